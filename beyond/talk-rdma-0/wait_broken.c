/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: to be compiled and looked at, next to wait_right.c; no program contains it. Broken on
 * purpose: with -O2 the first loop looks at memory once, and never again. The second one is the
 * same with a sleep in it, and works, for a reason that has nothing to do with time: see README.md.
 */
#include <stdint.h>
#include <unistd.h>

void wait_broken(const uint64_t *word);
void wait_asleep(const uint64_t *word);

void wait_broken(const uint64_t *word)
{
	while (!*word)
		;
}

void wait_asleep(const uint64_t *word)
{
	while (!*word)
		sleep(1);
}
