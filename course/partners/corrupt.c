/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A server's part for the exercise "verify": of the message number CORRUPT_MESSAGE, the byte at
 * CORRUPT_BYTE is changed before it is sent back. Linked with --wrap=our_post_send.
 */
#include <stdlib.h>

#include "common/transfer_posting.h"

int __real_our_post_send(struct our_control *control, uint32_t index, uint32_t length);
int __wrap_our_post_send(struct our_control *control, uint32_t index, uint32_t length);

static uint64_t number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : UINT64_MAX;
}

int __wrap_our_post_send(struct our_control *control, uint32_t index, uint32_t length)
{
	static uint64_t messages;
	uint64_t offset = number("CORRUPT_BYTE");

	if (messages++ == number("CORRUPT_MESSAGE") && offset < length)
		((uint8_t *)control->memory.buffers[index].data)[offset] ^= 0x10;
	return __real_our_post_send(control, index, length);
}
