/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * talk-rdma-0: the memory into which the other side writes a line of text, and how its reader looks
 * at it. The layout is in docs/protocol.md. For the connection's own thread, and the peer's device.
 */
#ifndef OUR_SLOT_H
#define OUR_SLOT_H

#include <stdint.h>

#include "beyond/ping-rdma-3/barrier.h"

#define OUR_SLOT      256 /* bytes of a slot */
#define OUR_SLOT_TEXT 240 /* bytes of the text, at most; it is at the start */
#define OUR_SLOT_MARK 240 /* place of the mark, eight bytes that say that there is a text */
#define OUR_SLOT_SEEN 248 /* place of the reader's own eight bytes: number of the text taken last */

/*
 * Returns the word as it is now. The load is atomic, so the compiler makes a new one for each look, in
 * one piece. Because of the barrier, what is read after the word is not older than the word.
 */
static inline uint64_t our_look(const uint64_t *word)
{
	uint64_t found = __atomic_load_n(word, __ATOMIC_RELAXED);

	our_from_device_barrier();
	return found;
}

/* A mark: sequence number (4 bytes), length (2), sum of the text (2), big-endian; 0: nothing yet. */
uint64_t our_make_mark(uint32_t sequence, const uint8_t *text, uint16_t length);

/*
 * Looks once whether text number `sequence` is in the slot, and whole. Returns its length, at most
 * OUR_SLOT_TEXT, with the text in text[]; or -1: not yet.
 */
int our_look_at_slot(const uint8_t *slot, uint32_t sequence, uint8_t *text);

/*
 * Notes in the slot that text number `sequence` has been taken; or returns what the other side has
 * noted.
 */
void our_note_seen(uint8_t *slot, uint32_t sequence);
uint32_t our_seen(const uint8_t *slot);

#endif
