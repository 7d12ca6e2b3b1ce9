/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The contents of the messages: a pattern that differs from message to message, so that a
 * comparison notices a lost, repeated or torn message.
 */
#ifndef OUR_USER_DATA_H
#define OUR_USER_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "common/our_control.h"

/* Fills buffer `index` with the pattern of message number `message`. */
void our_setup_user_data(struct our_control *control, uint32_t index, uint64_t message);

/*
 * Compares buffer `index` with the pattern of message number `message`.
 * Returns 0, or EBADMSG, reported with the first byte that differs. One thread.
 */
int our_verify_data(const struct our_control *control, uint32_t index, uint64_t message);

/*
 * Returns the offset of the first byte of buffer `index` that differs from the pattern of message
 * number `message`; data_size if none does. Reports nothing.
 */
size_t our_find_difference(const struct our_control *control, uint32_t index, uint64_t message);

/*
 * Returns the number of the message whose pattern begins with the bytes at `data`: the first eight
 * are the message's number, scrambled in a way that can be undone.
 */
uint64_t our_message_number(const uint8_t *data);

/*
 * Checks that the completion of a receive brought as many bytes as a message has.
 * Returns 0, or EPROTO, reported. Any thread.
 */
int our_check_length(const struct our_control *control, const struct our_completion *completion);

#endif
