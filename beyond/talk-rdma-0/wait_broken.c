/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Two loops to be compiled and looked at, next to wait_right.c; no program contains them. They are
 * broken on purpose: with -O2 the first looks at memory once, and never again. The second has a sleep
 * in it, and works, but not because of the time: see README.md.
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
