/* SPDX-License-Identifier: MIT */
/*
 * counts.h - arithmetic on struct counts, and what a slot of each kind counts as.
 *
 * Sums saturate: with a hostile segment a sum that wraps would make base > total.
 */
#pragma once

#include "dashboard/model.h"

void counts_add(struct counts *sum, const struct counts *add);

/* The same for counts of a site of `kind`, and cheaper: most of theirs are 0 by their kind. */
void counts_add_of(struct counts *sum, const struct counts *add, unsigned kind);

/* Makes every count of `base`, which is that of a site of `kind`, at most that of `total`. */
void counts_clamp_of(struct counts *base, const struct counts *total, unsigned kind);

/* Adds what a slot of the segment says; `kind` is its enum seg_kind. */
void counts_add_slot(struct counts *sum, unsigned kind, const struct seg_slot *slot);

/* The kind of the site that a slot of `kind` belongs to; 0 for no kind of the model. */
unsigned counts_site_kind(unsigned kind);
