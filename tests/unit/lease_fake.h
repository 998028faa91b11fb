/* SPDX-License-Identifier: MIT */
/* lease_fake.h - what lease_in_use() answers in unit tests; -EINVAL, "not known", at first. */
#pragma once

extern int lease_fake;
