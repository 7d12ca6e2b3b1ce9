/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Miscellaneous layer: the pattern in the messages. See user_data.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/report.h"
#include "common/user_data.h"

/* Odd and irregular, so that words of neighbouring places and messages share no byte for long. */
#define MESSAGE_STEP 0x9e3779b97f4a7c15ull
#define WORD_STEP    0xd1342543de82ef95ull

static uint64_t first_word(uint64_t message)
{
	return (message + 1) * MESSAGE_STEP;
}

void our_setup_user_data(struct our_control *control, uint32_t index, uint64_t message)
{
	uint8_t *data = control->buffers[index].data;
	uint64_t word = first_word(message);
	size_t left = control->data_size;

	for (; left >= sizeof(word); left -= sizeof(word), data += sizeof(word)) {
		memcpy(data, &word, sizeof(word));
		word += WORD_STEP;
	}
	memcpy(data, &word, left);
}

static int report_difference(const struct our_control *control, uint32_t index, uint64_t message,
			     size_t offset, uint64_t word)
{
	const uint8_t *data = control->buffers[index].data;
	uint8_t wanted[sizeof(word)];
	size_t i = 0;

	memcpy(wanted, &word, sizeof(word));
	while (data[offset + i] == wanted[i])
		i++;
	our_report_sentence("message %" PRIu64 ": byte %zu is 0x%02x, should be 0x%02x", message,
			    offset + i, data[offset + i], wanted[i]);
	return EBADMSG;
}

int our_verify_data(const struct our_control *control, uint32_t index, uint64_t message)
{
	const uint8_t *data = control->buffers[index].data;
	uint64_t word = first_word(message);
	size_t offset, length = control->data_size;

	for (offset = 0; offset + sizeof(word) <= length; offset += sizeof(word)) {
		if (memcmp(data + offset, &word, sizeof(word)))
			return report_difference(control, index, message, offset, word);
		word += WORD_STEP;
	}
	if (memcmp(data + offset, &word, length - offset))
		return report_difference(control, index, message, offset, word);
	return 0;
}
