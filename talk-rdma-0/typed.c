/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * talk-rdma-0: lines from stdin. See talk.h. One that is too long for a slot becomes several.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "talk-rdma-0/talk.h"

static int take_out(struct our_transfer *transfer, uint32_t length, uint32_t with_end,
		    uint8_t *text)
{
	memcpy(text, transfer->typed, length);
	transfer->n_typed -= with_end;
	memmove(transfer->typed, transfer->typed + with_end, transfer->n_typed);
	return (int)length;
}

static int take_line(struct our_transfer *transfer, uint8_t *text)
{
	const uint8_t *end = memchr(transfer->typed, '\n', transfer->n_typed);
	uint32_t length = end ? (uint32_t)(end - transfer->typed) : transfer->n_typed;

	if (end)
		return take_out(transfer, length, length + 1, text);
	if (length > OUR_SLOT_TEXT)
		return take_out(transfer, OUR_SLOT_TEXT, OUR_SLOT_TEXT, text);
	if (transfer->at_end && length)
		return take_out(transfer, length, length, text);
	return -1;
}

int our_take_typed(struct our_transfer *transfer, int limit_ms, uint8_t *text)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int length = take_line(transfer, text);
	ssize_t got;

	if (length >= 0 || transfer->at_end || poll(&input, 1, limit_ms) <= 0)
		return length;
	got = read(STDIN_FILENO, transfer->typed + transfer->n_typed,
		   sizeof(transfer->typed) - transfer->n_typed);
	if (got > 0)
		transfer->n_typed += (uint32_t)got;
	transfer->at_end = got <= 0;
	return take_line(transfer, text);
}
