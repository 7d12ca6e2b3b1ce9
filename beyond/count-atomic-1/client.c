/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client of a shared counter, from its first verb to its last: it counts, either in one step,
 * or in two while it holds the lock. Compare beyond/ping-rdma-1/client.c, and see
 * ping-sr-0/client.c for who calls this.
 */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "beyond/count-atomic-1/count_atomic.h"
#include "program/measure/run.h"
#include "program/report.h"
#include "program/serve/serve.h"
#include "program/stage.h"

static bool lock;        /* --lock: count in the word that the lock protects */
static uint64_t hold_us; /* --hold: how long to hold that lock */

static const struct our_option count_options[] = {
	{ "count", 'c', "N", "how often to count (default 1000)",
	  OUR_NUMBER(count, 1, OUR_COUNT_UNLIMITED - 1) },
	{ "duration", 'D', "SECONDS", "run for this long; with -c: whichever comes first",
	  OUR_NUMBER(duration_s, 1, UINT32_MAX) },
	{ "lock", 0, NULL, "count in two steps, and hold the lock for both: COMPARE_AND_SWAP",
	  OUR_OWN_FLAG(lock) },
	{ "hold", 0, "MICROSECONDS", "with --lock: wait this long between the two steps",
	  OUR_OWN_NUMBER(hold_us, 1, 1000000000) },
	{ "verify", 'v', NULL, "check that what we have counted stays in the counter",
	  OUR_FLAG(verify) },
	{ 0 },
};

const struct our_program our_count_client_program = {
	.summary = "Counts in the server's memory, together with other clients, and shows how long "
		   "that took.",
	.options = { our_client_options, our_rate_options, count_options },
	.needs_atomics = true,
};

static uint64_t own_name(const struct our_one_sided *one_sided)
{
	return one_sided->exchange.buffer.rkey;
}

/* Takes the lock. While another client has the lock, tries again and again. */
static int take_lock(struct our_control *client, struct our_one_sided *one_sided)
{
	uint64_t holder = 0;
	int ret;

	do {
		ret = our_compare_and_swap(client, one_sided, OUR_LOCK, 0, own_name(one_sided),
					   &holder);
		if (!ret && holder)
			ret = our_keep_waiting(client);
	} while (!ret && holder);
	if (ret != ETIMEDOUT || !holder)
		return ret;
	our_report_sentence("waited in vain for the lock: 0x%" PRIx64 " holds it", holder);
	return EBUSY;
}

static int release_lock(struct our_control *client, struct our_one_sided *one_sided)
{
	uint64_t holder;
	int ret;

	ret = our_compare_and_swap(client, one_sided, OUR_LOCK, own_name(one_sided), 0, &holder);
	if (ret || holder == own_name(one_sided))
		return ret;
	our_report_sentence("the lock was ours, and now it says 0x%" PRIx64, holder);
	return EPROTO;
}

static void hold_lock(void)
{
	const struct timespec pause = {
		.tv_sec = (time_t)(hold_us / 1000000),
		.tv_nsec = (long)(hold_us % 1000000) * 1000,
	};

	if (hold_us)
		nanosleep(&pause, NULL);
}

/*
 * Reads the guarded word, and writes it one higher. No other client may write in between; the second
 * operation shows if one did.
 */
static int count_guarded(struct our_control *client, struct our_one_sided *one_sided, uint64_t *was)
{
	uint64_t then;
	int ret;

	ret = our_fetch_and_add(client, one_sided, OUR_GUARDED, 0, was);
	if (ret)
		return ret;
	hold_lock();
	ret = our_compare_and_swap(client, one_sided, OUR_GUARDED, *was, *was + 1, &then);
	if (ret || then == *was)
		return ret;
	our_report_sentence("what the lock guards went from %" PRIu64 " to %" PRIu64
			    " while we held the lock",
			    *was, then);
	return EPROTO;
}

static int count_with_lock(struct our_control *client, struct our_one_sided *one_sided,
			   uint64_t *was)
{
	int ret;

	ret = take_lock(client, one_sided);
	if (!ret)
		ret = count_guarded(client, one_sided, was);
	return ret ? ret : release_lock(client, one_sided);
}

/* Checks that the counter is `least` or more: others count, too, but it has our own count. */
static int check_found(uint64_t message, uint64_t found, uint64_t *least)
{
	if (found < *least) {
		our_report_sentence("message %" PRIu64 ": the counter was %" PRIu64
				    ", and had been %" PRIu64 " before",
				    message, found, *least);
		return EBADMSG;
	}
	*least = found + 1;
	return 0;
}

static int check_words(const struct our_remote_buffer *words)
{
	uint32_t needed = (lock ? OUR_WORDS : 1) * OUR_WORD_SIZE;

	if (words->length >= needed && words->address % OUR_WORD_SIZE == 0)
		return 0;
	our_report_sentence("the server's counter is in %u bytes at 0x%" PRIx64
			    ", but must be in %u at a multiple of 8",
			    words->length, words->address, needed);
	return EPROTO;
}

static int our_client_operation(struct our_control *client, struct our_one_sided *one_sided)
{
	uint64_t found = 0, least = 0;
	struct our_run *run = our_run_of(client);
	int ret;

	our_begin_run(run);
	ret = our_start_exchange(client, one_sided); /* learns where the server's words are */
	if (!ret)
		ret = our_learn_read_depth(client); /* ibv_query_qp */
	if (!ret)
		ret = check_words(&one_sided->exchange.buffer);
	while (!ret && our_next_message(run)) { /* -c, -D, Ctrl-C */
		ret = our_await_turn(run);
		if (ret)
			break;
		our_start_clock(run);
		if (lock)
			ret = count_with_lock(client, one_sided, &found);
		else
			ret = our_fetch_and_add(client, one_sided, OUR_COUNTER, 1, &found);
		if (ret)
			break;
		our_stop_clock(run);
		if (run->options->verify)
			ret = check_found(run->message, found, &least);
	}
	our_statistics_end(&run->statistics);
	if (!ret)
		ret = our_end_exchange(client, one_sided, run->message); /* the number of counts */
	return our_end_run(run, ret);
}

int our_count_client(struct our_control *client, struct sockaddr *server)
{
	struct our_one_sided one_sided;
	int ret;

	ret = our_create_id(client); /* rdma_create_id */
	if (ret)
		return ret;
	ret = our_client_bind(client, server); /* rdma_resolve_addr, rdma_resolve_route */
	if (ret)
		goto out_destroy_id;
	ret = our_check_data_size(client); /* ibv_query_port */
	if (ret)
		goto out_destroy_id;
	our_run_of(client)->data_size = OUR_WORD_SIZE;
	/*
	 * ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv. The key that the
	 * server gets for the buffer of results gives no rights.
	 */
	ret = our_setup_one_sided(client, &one_sided, 1, OUR_RESULT, 0);
	if (ret)
		goto out_destroy_id;
	ret = our_tell_and_connect(client); /* rdma_connect; ibv_modify_qp: the RNR timer */
	if (ret)
		goto out_disconnect;

	ret = our_client_operation(client, &one_sided);
	ret = our_report_results(client, ret);

out_disconnect:
	our_disconnect(client); /* rdma_disconnect, rdma_destroy_qp */
	/* ibv_dereg_mr, ibv_destroy_cq, ibv_dealloc_pd */
	our_unsetup_one_sided(client, &one_sided);
out_destroy_id:
	our_destroy_id(client); /* rdma_destroy_id */
	return ret;
}
