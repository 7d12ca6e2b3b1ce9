/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * count-atomic-1: what the client does once it is connected: it counts, either in one step, or in
 * two while it holds the lock. ping-sr-0/pings.c decides how often and how fast; for it, counting
 * once is a ping.
 */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "ping-sr-0/legacy.h"
#include "common/transfer_completion.h"
#include "count-atomic-1/count_atomic.h"
#include "measure/clock.h"
#include "ping-rdma-1/transfer.h"
#include "ping-sr-0/user_data.h"
#include "program/report.h"

static uint64_t own_name(const struct our_control *client)
{
	return client->transfer->exchange.buffer.rkey;
}

/* While another client has it, it tries again and again. */
static int take_lock(struct our_control *client)
{
	uint64_t holder = 0;
	int ret;

	do {
		ret = our_compare_and_swap(client, OUR_LOCK, 0, own_name(client), &holder);
		if (!ret && holder)
			ret = our_keep_waiting(client);
	} while (!ret && holder);
	if (ret != ETIMEDOUT || !holder)
		return ret;
	our_report_sentence("waited in vain for the lock: 0x%" PRIx64 " holds it", holder);
	return EBUSY;
}

static int release_lock(struct our_control *client)
{
	uint64_t holder;
	int ret;

	ret = our_compare_and_swap(client, OUR_LOCK, own_name(client), 0, &holder);
	if (ret || holder == own_name(client))
		return ret;
	our_report_sentence("the lock was ours, and now it says 0x%" PRIx64, holder);
	return EPROTO;
}

static void hold_as_told(void)
{
	uint64_t us = our_count_options.hold_us;
	struct timespec pause = {
		.tv_sec = (time_t)(us / 1000000),
		.tv_nsec = (long)(us % 1000000) * 1000,
	};

	if (us)
		nanosleep(&pause, NULL);
}

/*
 * Reads, and writes one more: no other client may write in between. The second operation shows
 * whether one did.
 */
static int count_guarded(struct our_control *client, uint64_t *was)
{
	uint64_t then;
	int ret;

	ret = our_fetch_and_add(client, OUR_GUARDED, 0, was);
	if (ret)
		return ret;
	hold_as_told();
	ret = our_compare_and_swap(client, OUR_GUARDED, *was, *was + 1, &then);
	if (ret || then == *was)
		return ret;
	our_report_sentence("what the lock guards went from %" PRIu64 " to %" PRIu64
			    " while we held the lock",
			    *was, then);
	return EPROTO;
}

static int count_with_lock(struct our_control *client, uint64_t *was)
{
	int ret;

	ret = take_lock(client);
	if (!ret)
		ret = count_guarded(client, was);
	return ret ? ret : release_lock(client);
}

int our_ping(struct our_control *client)
{
	uint64_t *was = &client->transfer->progress->found;

	if (our_count_options.lock)
		return count_with_lock(client, was);
	return our_fetch_and_add(client, OUR_COUNTER, 1, was);
}

int our_prepare_for_next(struct our_control *client)
{
	(void)client; /* no receive is needed */
	return 0;
}

/* An atomic operation sends no data. */
void our_setup_user_data(struct our_control *client, uint32_t index, uint64_t message)
{
	(void)client, (void)index, (void)message;
}

/* Others count, too, but our own count is part of it. */
int our_verify_data(const struct our_control *client, uint32_t index, uint64_t message)
{
	struct our_progress *progress = client->transfer->progress;

	(void)index;
	if (progress->found < progress->least) {
		our_report_sentence("message %" PRIu64 ": the counter was %" PRIu64
				    ", and had been %" PRIu64 " before",
				    message, progress->found, progress->least);
		return EBADMSG;
	}
	progress->least = progress->found + 1;
	return 0;
}

static int check_words(const struct our_control *client)
{
	const struct our_remote_buffer *words = &client->transfer->exchange.buffer;
	uint32_t needed = (our_count_options.lock ? OUR_WORDS : 1) * OUR_WORD_SIZE;

	if (words->length >= needed && words->address % OUR_WORD_SIZE == 0)
		return 0;
	our_report_sentence("the server's counter is in %u bytes at 0x%" PRIx64
			    ", but must be in %u at a multiple of 8",
			    words->length, words->address, needed);
	return EPROTO;
}

int our_client_operation(struct our_control *client)
{
	struct our_statistics *statistics = &client->statistics;
	uint64_t messages = 0;
	int ret;

	our_statistics_prepare(statistics, client->count, client->data_size);
	our_statistics_want_progress(statistics, client->options->quiet);
	ret = our_exchange_buffers(client);
	if (!ret)
		ret = check_words(client);
	if (!ret)
		ret = our_run_pings(client, &messages);
	our_statistics_end(statistics);
	if (!ret)
		ret = our_exchange_counts(client, messages);
	ret = our_judge_end(client, ret, messages);
	statistics->verified = !ret && client->options->verify;
	return ret;
}
