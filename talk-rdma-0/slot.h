/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * talk-rdma-0: the memory that a line of text is written into by the other side, and how its reader
 * looks at it. The layout is in docs/protocol.md. The connection's own thread, and the peer's device.
 */
#ifndef OUR_SLOT_H
#define OUR_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#define OUR_SLOT      256 /* bytes: */
#define OUR_SLOT_TEXT 240 /* the text, from the start on; */
#define OUR_SLOT_MARK 240 /* where the mark is, of eight bytes, which says that there is a text; */
#define OUR_SLOT_SEEN \
	248 /* and where the reader says which one it has taken: eight bytes, its own */

/* A mark: sequence number (4 bytes), length (2), sum of the text (2), big-endian; 0: nothing yet. */
uint64_t our_make_mark(uint32_t sequence, const uint8_t *text, uint16_t length);

/*
 * Looks once whether text number `sequence` is in the slot, and whole. Returns its length, at most
 * OUR_SLOT_TEXT, with the text in text[]; or -1: not yet.
 */
int our_look_at_slot(const uint8_t *slot, uint32_t sequence, uint8_t *text);

/* Says in the slot that text number `sequence` has been taken; or what the other side has said there. */
void our_note_seen(uint8_t *slot, uint32_t sequence);
uint32_t our_seen(const uint8_t *slot);

#endif
