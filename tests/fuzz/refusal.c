/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: hostile input: the reason that a server gives for a refusal. Contract: the input is a byte
 * with the size of the buffer for the text, and then private data.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ping-sr-1/connect_info.h"
#include "program/stage.h"
#include "tests/fuzz/fuzz.h"

#define ROOMY 100 /* for any of the texts, whole */

/* The first 16 bytes of what was understood are what we would send. */
static bool understood(const uint8_t *data, size_t length, struct our_refusal *refusal)
{
	uint8_t *exact = fuzz_copy(data, length), wire[OUR_REFUSAL_LENGTH];
	int ret = our_decode_refusal(exact, length, refusal);

	free(exact);
	if (ret) {
		fuzz_claim(ret == EPROTO);
		return false;
	}
	fuzz_claim(length >= sizeof(wire));
	our_encode_refusal(refusal, wire);
	fuzz_claim(!memcmp(wire, data, sizeof(wire)));
	return true;
}

/* A text that is whole names the limit, where the reason has one. */
static void check_text(const char *text, const struct our_refusal *refusal)
{
	char number[32];

	fuzz_claim(strcmp(text, "it gave no reason") != 0);
	snprintf(number, sizeof(number), "%" PRIu64, refusal->limit);
	if (refusal->reason >= OUR_REFUSED_COUNT && refusal->reason <= OUR_REFUSED_BUFFERS)
		fuzz_claim(strstr(text, number));
}

/* Writes the text into no more than `room` bytes. To be freed. */
static char *explain(const uint8_t *data, size_t length, int behind, size_t room)
{
	static struct our_control client;
	char *text = malloc(room);

	fuzz_claim(text);
	memset(text, '\n', room);
	memset(client.cm_event.private_data, behind, sizeof(client.cm_event.private_data));
	memcpy(client.cm_event.private_data, data, length);
	client.cm_event.private_data_length = (uint8_t)length;
	our_private_data.explain(&client.cm_event, text, room);
	fuzz_claim(memchr(text, '\0', room));
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length = size ? size - 1 : 0, room;
	char *text, *same_text, *at;
	struct our_refusal refusal;

	if (!size || length > UINT8_MAX)
		return 0;
	room = (size_t)*data++ + 1;
	fuzz_listen();
	text = explain(data, length, 0, room);
	same_text = explain(data, length, 0xff, room);
	fuzz_claim(!strcmp(text, same_text));
	for (at = text; *at; at++)
		fuzz_claim(isprint((unsigned char)*at));
	fuzz_claim(room == 1 || *text);
	if (!understood(data, length, &refusal))
		fuzz_claim(!strncmp(text, "it gave no reason", room - 1));
	else if (room >= ROOMY)
		check_text(text, &refusal);
	fuzz_claim(!*fuzz_stderr() && !*fuzz_stdout());
	free(same_text);
	free(text);
	return 0;
}
