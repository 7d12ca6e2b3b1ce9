/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Lines from stdin, in a flattened program.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "talk-rdma-0/talk.h"

/* Takes a line, or as much of it as a slot holds; waits for stdin if there is none. -1: none yet. */
int our_take_typed(struct our_transfer *transfer, int limit_ms, uint8_t *text)
{
	static uint8_t typed[OUR_SLOT_TEXT + 1];
	static size_t n; /* bytes in it */
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	const uint8_t *end = memchr(typed, '\n', n);
	size_t length;
	ssize_t got;

	if (!end && n < sizeof(typed) && !transfer->at_end && poll(&input, 1, limit_ms) > 0) {
		got = read(STDIN_FILENO, typed + n, sizeof(typed) - n);
		n += got > 0 ? (size_t)got : 0;
		transfer->at_end = got <= 0;
		end = memchr(typed, '\n', n);
	}
	if (!end && n < sizeof(typed) && !(transfer->at_end && n))
		return -1;
	length = end ? (size_t)(end - typed) : n;
	if (length > OUR_SLOT_TEXT)
		length = OUR_SLOT_TEXT;
	memcpy(text, typed, length);
	n -= length + (end != NULL);
	memmove(typed, typed + length + (end != NULL), n);
	return (int)length;
}
