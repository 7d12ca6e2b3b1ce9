/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * talk-rdma-0: a line of text in memory. See slot.h.
 */
#include <endian.h>
#include <string.h>

#include "beyond/talk-rdma-0/slot.h"

static uint16_t sum_of(const uint8_t *text, uint16_t length)
{
	uint32_t sum = length;
	uint16_t i;

	for (i = 0; i < length; i++)
		sum = sum * 31 + text[i];
	return (uint16_t)(sum ^ sum >> 16);
}

uint64_t our_make_mark(uint32_t sequence, const uint8_t *text, uint16_t length)
{
	return htobe64((uint64_t)sequence << 32 | (uint64_t)length << 16 | sum_of(text, length));
}

/* Checks everything that the peer sends before using it. */
int our_look_at_slot(const uint8_t *slot, uint32_t sequence, uint8_t *text)
{
	uint64_t mark = be64toh(our_look((const uint64_t *)(const void *)(slot + OUR_SLOT_MARK)));
	uint16_t length = (uint16_t)(mark >> 16);

	if (mark >> 32 != sequence || length > OUR_SLOT_TEXT)
		return -1;
	memcpy(text, slot, length);
	return sum_of(text, length) == (uint16_t)mark ? length : -1;
}

void our_note_seen(uint8_t *slot, uint32_t sequence)
{
	our_from_device_barrier(); /* the text has been read: from now on it may be overwritten */
	__atomic_store_n((uint64_t *)(void *)(slot + OUR_SLOT_SEEN), htobe64(sequence),
			 __ATOMIC_RELAXED);
}

uint32_t our_seen(const uint8_t *slot)
{
	return (uint32_t)be64toh(our_look((const uint64_t *)(const void *)(slot + OUR_SLOT_SEEN)));
}
