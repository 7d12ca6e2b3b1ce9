/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The library's own memcpy and the like, which only it sees. Those of a sanitizer would take its
 * accesses to the world for the program's, and report them as races: ThreadSanitizer does not know
 * of turns.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#undef memcpy
#undef memset

void *memcpy(void *restrict to, const void *restrict from, size_t length)
{
	uint8_t *byte = to;
	const uint8_t *source = from;

	while (length--)
		*byte++ = *source++;
	return to;
}

void *memset(void *memory, int value, size_t length)
{
	uint8_t *byte = memory;

	while (length--)
		*byte++ = (uint8_t)value;
	return memory;
}
