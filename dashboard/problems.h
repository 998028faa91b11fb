/* SPDX-License-Identifier: MIT */
/*
 * problems.h - what the agent could not do, as a sentence for people.
 */
#pragma once

#include "dashboard/model.h"

/* False where the record says nothing. Its text may be anything. */
bool problem_describe(const struct seg_problem *record, struct problem *out);
