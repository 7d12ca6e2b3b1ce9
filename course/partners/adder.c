/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client for the exercise "exactly-once": that of ping-reconnect-2, whose messages ask the
 * server to add a number to one of four words, and whose answers have what the word was before. It
 * prints its part of the history, a line when it asks and one when it has the answer, with the
 * time. ADDER=NAME,OFFSET: a number for its lines and for what it draws, and the offset of the
 * request in the message. Linked with --wrap=our_setup_user_data,our_verify_data.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "program/measure/user_data.h"

#define WORDS 4

struct request {
	uint64_t word, addend; /* big-endian */
};

static unsigned int name, offset;
static uint64_t asked; /* messages that were asked for, each at least once */
static uint8_t hidden[sizeof(struct request)]; /* the pattern in whose place the request is */

void __real_our_setup_user_data(struct our_control *control, uint32_t index, uint64_t message);
void __wrap_our_setup_user_data(struct our_control *control, uint32_t index, uint64_t message);
int __real_our_verify_data(const struct our_control *control, uint32_t index, uint64_t message);
int __wrap_our_verify_data(const struct our_control *control, uint32_t index, uint64_t message);

/*
 * The same for a message that is asked for again. Two neighbours are alike, so its bytes do not tell
 * a message from one that comes again.
 */
static struct request request_of(uint64_t message)
{
	uint64_t drawn = (message / 2 + 1 + (uint64_t)name * 1000) * 0x9e3779b97f4a7c15u;

	return (struct request){ htobe64(drawn >> 62), htobe64(1 + (drawn >> 32) % 9) };
}

void __wrap_our_setup_user_data(struct our_control *control, uint32_t index, uint64_t message)
{
	const char *words = getenv("ADDER");
	uint8_t *place;
	struct request request;

	sscanf(words ? words : "", "%u,%u", &name, &offset);
	request = request_of(message);
	__real_our_setup_user_data(control, index, message);
	place = control->memory.buffers[index].data + offset;
	memcpy(hidden, place, sizeof(hidden));
	memcpy(place, &request, sizeof(request));
	if (message < asked)
		return;
	asked = message + 1;
	printf("asks %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", name, message,
	       be64toh(request.word), be64toh(request.addend), our_now_ns());
	fflush(stdout);
}

/* All but the request has to come back as it was sent. */
int __wrap_our_verify_data(const struct our_control *control, uint32_t index, uint64_t message)
{
	uint8_t *place = control->memory.buffers[index].data + offset;
	uint64_t result;

	memcpy(&result, place, sizeof(result));
	printf("got %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", name, message, be64toh(result),
	       our_now_ns());
	fflush(stdout);
	memcpy(place, hidden, sizeof(hidden));
	return __real_our_verify_data(control, index, message);
}
