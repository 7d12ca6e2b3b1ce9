/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * talk-rdma-0: lines from stdin. See talk.h. A line that is too long for a slot becomes several.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "beyond/talk-rdma-0/talk.h"

/*
 * What was read from stdin and not sent yet. It belongs to the process: what is left when a client
 * leaves is for the next one. For the thread that talks; there is one at a time.
 */
static struct {
	uint8_t text[OUR_SLOT_TEXT + 1]; /* with its line feed; */
	uint32_t n;                      /* its length in bytes */
} typed;

static int take_out(uint32_t length, uint32_t with_end, uint8_t *text)
{
	memcpy(text, typed.text, length);
	typed.n -= with_end;
	memmove(typed.text, typed.text + with_end, typed.n);
	return (int)length;
}

static int take_line(const struct our_talk *talk, uint8_t *text)
{
	const uint8_t *end = memchr(typed.text, '\n', typed.n);
	uint32_t length = end ? (uint32_t)(end - typed.text) : typed.n;

	if (end)
		return take_out(length, length + 1, text);
	if (length > OUR_SLOT_TEXT)
		return take_out(OUR_SLOT_TEXT, OUR_SLOT_TEXT, text);
	if (talk->at_end && length)
		return take_out(length, length, text);
	return -1;
}

int our_take_typed(struct our_talk *talk, int limit_ms, uint8_t *text)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int length = take_line(talk, text);
	ssize_t got;

	if (length >= 0 || talk->at_end || poll(&input, 1, limit_ms) <= 0)
		return length;
	got = read(STDIN_FILENO, typed.text + typed.n, sizeof(typed.text) - typed.n);
	if (got > 0)
		typed.n += (uint32_t)got;
	talk->at_end = got <= 0;
	return take_line(talk, text);
}
