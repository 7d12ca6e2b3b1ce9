/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * count-atomic-1: the server's words, which are the same for all clients; when no client is there,
 * checks that they hold what the clients report. Called by the threads of all agents.
 */
#include <inttypes.h>
#include <pthread.h>

#include "ping-sr-0/legacy.h"
#include "count-atomic-1/count_atomic.h"
#include "count-atomic-1/shared_memory.h"
#include "ping-rdma-1/transfer.h"
#include "program/report.h"

/* The devices change them; we look only when no client is there. */
static uint64_t words[OUR_WORDS];

static pthread_mutex_t presence_lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static unsigned int present;                                      /* clients that may count */
static uint64_t told;  /* the counts of clients that have sent one */
static bool some_died; /* clients that have not */

static void arrive(void)
{
	pthread_mutex_lock(&presence_lock);
	present++;
	pthread_mutex_unlock(&presence_lock);
}

/*
 * The last client to leave triggers the check. With presence_lock held. Any client can make the two
 * sums differ, so this is no failure of the server.
 */
static void check_sum(struct our_control *agent)
{
	uint64_t sum = words[OUR_COUNTER] + words[OUR_GUARDED];

	if (words[OUR_LOCK])
		our_report_sentence(
			"a client has left, and holds the lock: nobody else will get it");
	if (sum == told || (some_died && sum > told)) {
		if (!agent->options->quiet)
			our_report_sentence("counted to %" PRIu64 ", and the clients' counts add "
					    "up to %" PRIu64 "%s",
					    sum, told,
					    some_died ? ", without those who left early" : "");
		return;
	}
	our_report_sentence("counted to %" PRIu64 ", but the clients' counts add up to %" PRIu64
			    ": a client's count is false, or counts were lost",
			    sum, told);
	told = sum; /* reported once */
}

/* Its QP is destroyed: nothing of it is under way. */
static void depart(struct our_control *agent, bool has_told, uint64_t count)
{
	pthread_mutex_lock(&presence_lock);
	if (has_told)
		told += count;
	else
		some_died = true;
	if (!--present)
		check_sum(agent);
	pthread_mutex_unlock(&presence_lock);
}

/* A client has only the right to the words that it needs. */
int our_setup_agent_transfer(struct our_control *agent)
{
	int ret;

	ret = our_setup_shared_memory(agent, words, sizeof(words),
				      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	if (!ret)
		arrive();
	return ret;
}

void our_unsetup_transfer(struct our_control *agent)
{
	const struct our_exchange *exchange = &agent->transfer->exchange;
	bool has_told = exchange->received[OUR_COUNT_TOLD] || !agent->accepted;
	uint64_t count = exchange->count;

	our_unsetup_shared_memory(agent);
	depart(agent, has_told, count);
}
