/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A loop to be compiled and looked at, next to wait_broken.c; no program contains it. It looks at
 * memory each time around: see README.md.
 */
#include "beyond/talk-rdma-0/slot.h"

void wait_right(const uint64_t *word);

void wait_right(const uint64_t *word)
{
	while (!our_look(word))
		;
}
