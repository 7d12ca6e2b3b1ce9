/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A server's part for the exercise "verify": in the message number CORRUPT_MESSAGE, it changes the
 * byte at CORRUPT_BYTE before it sends it back, or without CORRUPT_BYTE leaves out the last byte.
 * Linked with --wrap=our_post_send.
 */
#include <stdlib.h>

#include "common/waiting.h"

int __real_our_post_send(struct our_control *control, uint32_t index, uint32_t length);
int __wrap_our_post_send(struct our_control *control, uint32_t index, uint32_t length);

int __wrap_our_post_send(struct our_control *control, uint32_t index, uint32_t length)
{
	static uint64_t messages;
	const char *byte = getenv("CORRUPT_BYTE");
	uint64_t offset = byte ? strtoull(byte, NULL, 10) : UINT64_MAX;

	if (messages++ != strtoull(getenv("CORRUPT_MESSAGE"), NULL, 10))
		return __real_our_post_send(control, index, length);
	if (offset < length)
		((uint8_t *)control->memory.buffers[index].data)[offset] ^= 0x10;
	return __real_our_post_send(control, index, length - !byte);
}
