/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The pattern in the messages. See user_data.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "program/report.h"

/* Odd and irregular, so that neighbouring words and messages rarely have a byte in common. */
#define MESSAGE_STEP 0x9e3779b97f4a7c15ull
#define WORD_STEP    0xd1342543de82ef95ull

static uint64_t first_word(uint64_t message)
{
	return (message + 1) * MESSAGE_STEP;
}

void our_setup_user_data(struct our_control *control, uint32_t index, uint64_t message)
{
	uint8_t *data = control->memory.buffers[index].data;
	uint64_t word = first_word(message);
	size_t left = our_run_of(control)->data_size;

	for (; left >= sizeof(word); left -= sizeof(word), data += sizeof(word)) {
		memcpy(data, &word, sizeof(word));
		word += WORD_STEP;
	}
	memcpy(data, &word, left);
}

/*
 * Returns the offset at which the bytes at `data` begin to differ from those of `word`; `length` if
 * they are equal.
 */
static size_t compare(const uint8_t *data, uint64_t word, size_t length)
{
	uint8_t wanted[sizeof(word)];
	size_t i = 0;

	memcpy(wanted, &word, sizeof(word));
	while (i < length && data[i] == wanted[i])
		i++;
	return i;
}

size_t our_find_difference(const struct our_control *control, uint32_t index, uint64_t message)
{
	const uint8_t *data = control->memory.buffers[index].data;
	uint64_t word = first_word(message);
	size_t offset, length = our_run_of(control)->data_size;

	for (offset = 0; offset + sizeof(word) <= length; offset += sizeof(word)) {
		if (memcmp(data + offset, &word, sizeof(word)))
			return offset + compare(data + offset, word, sizeof(word));
		word += WORD_STEP;
	}
	return offset + compare(data + offset, word, length - offset);
}

int our_verify_data(const struct our_control *control, uint32_t index, uint64_t message)
{
	size_t offset = our_find_difference(control, index, message);
	uint64_t word = first_word(message) + offset / sizeof(word) * WORD_STEP;
	uint8_t wanted[sizeof(word)];

	if (offset == our_run_of(control)->data_size)
		return 0;
	memcpy(wanted, &word, sizeof(word));
	our_report_sentence("message %" PRIu64 ": byte %zu is 0x%02x, should be 0x%02x", message,
			    offset, control->memory.buffers[index].data[offset],
			    wanted[offset % sizeof(word)]);
	return EBADMSG;
}

int our_check_length(const struct our_control *control, const struct our_completion *completion)
{
	const struct our_run *run = our_run_of(control);
	if (completion->byte_len == run->data_size)
		return 0;
	our_report_sentence(
		"received a message of %u bytes where %u were expected: were both sides "
		"started with the same -s?",
		completion->byte_len, run->data_size);
	return EPROTO;
}

/*
 * Returns the number that times `odd` gives 1, modulo 2^64: each step doubles the number of correct bits.
 */
static uint64_t inverse(uint64_t odd)
{
	uint64_t guess = odd; /* correct in three bits */
	int i;

	for (i = 0; i < 5; i++)
		guess *= 2 - odd * guess;
	return guess;
}

uint64_t our_message_number(const uint8_t *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	return word * inverse(MESSAGE_STEP) - 1;
}
