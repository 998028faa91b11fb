/* SPDX-License-Identifier: MIT */
/*
 * model_fixture.h - a small model made by hand, with everything in it that is hard to encode:
 * counts above 2^53, names that are no UTF-8, negative balances, unknown sites, a family that has
 * ended.
 *
 *   family 100-a  "server"  processes 100 (live), 101 (ended)
 *     threads     100 "main", 102 "w\xffrker", 101 "child" (ended), the ended ones of 100, shared
 *     sites       0 malloc "alpha", 1 new "std::vector<int>::grow", 2 free without function, 3
 * realloc not known, 4 malloc without anything known, 5 delete "alpha" family 200-b  "gone" ended,
 * empty
 */
#pragma once

#include "dashboard/model.h"

#define FIXTURE_BIG 9007199254740993ull /* 2^53 + 1: not a double */

extern const struct model fixture_model;
extern const struct model fixture_empty; /* no family at all */
