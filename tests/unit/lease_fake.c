/* SPDX-License-Identifier: MIT */
/*
 * lease_fake.c - stands in for dashboard/lease.c: a test has the segments that it builds mapped
 * itself, so that all of them would be in use.
 */
#include "tests/unit/lease_fake.h"
#include "dashboard/lease.h"

#include <errno.h>

int lease_fake = -EINVAL;

int lease_in_use(int fd)
{
	(void)fd;
	return lease_fake;
}
