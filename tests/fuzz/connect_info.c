/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: hostile input: the private data of a connect request. Contract: the input is a byte that
 * chooses the server's limits, and then private data of any length that a CM event may have.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "blast-sr-2/blast.h"
#include "ping-sr-1/connect_info.h"
#include "program/serve/session.h"
#include "program/stage.h"
#include "tests/fuzz/fuzz.h"

#define SHORTEST    16 /* count and size */
#define ROCE_LENGTH 56 /* RoCE and InfiniBand pad to it */

static void choose_limits(uint8_t byte)
{
	static const uint64_t counts[] = { OUR_COUNT_UNLIMITED, 1, 1000, 1ull << 32 };
	static const uint64_t sizes[] = { 16 << 20, 1, 4096, OUR_MAX_SIZE };
	static const uint64_t buffers[] = { 65536, 7, 1, 1 << 20 };

	our_client_limits.max_count = counts[byte & 3];
	our_client_limits.max_size = sizes[byte >> 2 & 3];
	our_blast_options.max_buffers = buffers[byte >> 4 & 3];
}

static bool same(const struct our_connect_info *a, const struct our_connect_info *b)
{
	return a->count == b->count && a->data_size == b->data_size &&
	       a->n_data_buffers == b->n_data_buffers;
}

/* Claims that decoded data is what we would send, and means the same however it is padded. */
static int check_decoding(const uint8_t *data, size_t length, struct our_connect_info *info)
{
	uint8_t wire[OUR_MAX_PRIVATE_DATA] = { 0 };
	uint8_t *exact = fuzz_copy(data, length);
	struct our_connect_info again;
	int ret = our_decode_connect_info(exact, length, info);

	free(exact);
	if (ret) {
		fuzz_claim(ret == EPROTO);
		return ret;
	}
	fuzz_claim(length >= SHORTEST);
	memcpy(wire, data, length);
	if (length < ROCE_LENGTH) {
		fuzz_claim(!our_decode_connect_info(wire, ROCE_LENGTH, &again));
		fuzz_claim(same(&again, info) && again.has_extension == info->has_extension);
	}
	memset(wire, 0, sizeof(wire));
	our_encode_connect_info(info, wire);
	fuzz_claim(!our_decode_connect_info(wire, OUR_CONNECT_INFO_LENGTH, &again));
	fuzz_claim(same(&again, info) && again.has_extension);
	return 0;
}

static struct our_session session; /* the agent's */
static const struct our_run *run = &session.run;

/* The client is told the reason, and the limit that it was. */
static void check_refusal(struct our_control *agent, int ret)
{
	uint8_t told[OUR_MAX_PRIVATE_DATA];
	struct our_refusal refusal;

	fuzz_claim_one_line();
	fuzz_claim(our_private_data.refuse(agent, 0, told) == OUR_REFUSAL_LENGTH);
	fuzz_claim(!our_decode_refusal(told, OUR_REFUSAL_LENGTH, &refusal));
	fuzz_claim(ret == (refusal.reason == OUR_REFUSED_NO_SENSE ? EPROTO : ERANGE));
	switch (refusal.reason) {
	case OUR_REFUSED_NO_SENSE:
		fuzz_claim(!refusal.limit);
		return;
	case OUR_REFUSED_COUNT:
		fuzz_claim(refusal.limit == our_client_limits.max_count);
		return;
	case OUR_REFUSED_SIZE:
		fuzz_claim(refusal.limit == our_client_limits.max_size);
		return;
	default:
		fuzz_claim(refusal.reason == OUR_REFUSED_BUFFERS);
		fuzz_claim(refusal.limit && refusal.limit <= our_blast_options.max_buffers);
	}
}

static void check_acceptance(const struct our_connect_info *info)
{
	uint64_t memory;

	fuzz_claim(!*fuzz_stderr() && !session.refusal_reason);
	fuzz_claim(run->count == info->count && run->data_size == info->data_size);
	fuzz_claim(run->has_extension == info->has_extension);
	fuzz_claim(run->count && run->count <= our_client_limits.max_count);
	fuzz_claim(run->data_size && run->data_size <= our_client_limits.max_size);
	fuzz_claim(run->n_data_buffers == info->n_data_buffers);
	fuzz_claim(run->n_data_buffers && run->n_data_buffers <= our_blast_options.max_buffers);
	fuzz_claim(!__builtin_mul_overflow(info->n_data_buffers, info->data_size, &memory));
	fuzz_claim(session.memory >= memory); /* what it is charged for is all that it gets */
}

/* Takes it, with `behind` in the memory behind it, which is nobody's to look at. */
static int take(struct our_control *agent, const uint8_t *data, size_t length, int behind)
{
	static const struct our_options options;
	struct our_cm_event request = { .private_data_length = (uint8_t)length };
	int ret;

	memset(request.private_data, behind, sizeof(request.private_data));
	memcpy(request.private_data, data, length);
	session = (struct our_session){ .run = { .options = &options } };
	*agent = (struct our_control){ .user = &session };
	fuzz_listen();
	ret = our_private_data.take(agent, &request);
	if (!ret)
		ret = our_blast_check(agent);
	/* A refusal leaves nothing behind, unless the workload refuses the buffers. */
	if (ret && session.refusal_reason != OUR_REFUSED_BUFFERS)
		fuzz_claim(!run->count && !run->data_size && !run->n_data_buffers);
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct our_control agent;
	struct our_connect_info info = { 0 };
	size_t length = size ? size - 1 : 0;
	int ret, decoded;

	if (!size || length > UINT8_MAX)
		return 0;
	choose_limits(*data++);
	decoded = check_decoding(data, length, &info);
	ret = take(&agent, data, length, 0);
	fuzz_claim(take(&agent, data, length, 0xff) == ret);
	fuzz_claim((decoded != 0) == (session.refusal_reason == OUR_REFUSED_NO_SENSE));
	if (ret)
		check_refusal(&agent, ret);
	else
		check_acceptance(&info);
	return 0;
}
