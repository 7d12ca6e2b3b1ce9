/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The agent of a shared counter, from its first verb to its last. The server's words are the same
 * for all clients; when no client is there, an agent checks that they hold what the clients report.
 * Called by the threads of all agents. Compare beyond/ping-rdma-1/agent.c, and see
 * ping-sr-0/agent.c for who calls this.
 */
#include <inttypes.h>
#include <pthread.h>

#include "beyond/count-atomic-1/count_atomic.h"
#include "common/roles.h"
#include "program/report.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"
#include "program/stage.h"

const struct our_program our_count_server_program = {
	.summary = "Lets clients count in its memory, sleeps meanwhile, and compares the sum.",
	.options = { our_listener_options },
	.needs_atomics = true,
	.timeout_s = 0, /* a client that counts sends nothing */
};

/* The devices change these words; we read them only when no client is there. */
static uint64_t words[OUR_WORDS];

static pthread_mutex_t presence_lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static unsigned int present;                                      /* clients that may count */
static uint64_t told;  /* the sum of the counts that clients have sent */
static bool some_died; /* a client has left without sending its count */

static void arrive(void)
{
	pthread_mutex_lock(&presence_lock);
	present++;
	pthread_mutex_unlock(&presence_lock);
}

/*
 * The last client to leave triggers the check. Called with presence_lock held. Any client can make
 * the two sums differ, so this is no failure of the server.
 */
static void check_sum(struct our_control *agent)
{
	uint64_t sum = words[OUR_COUNTER] + words[OUR_GUARDED];

	if (words[OUR_LOCK])
		our_report_sentence(
			"a client has left, and holds the lock: nobody else will get it");
	if (sum == told || (some_died && sum > told)) {
		if (!our_options_of(agent)->quiet)
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

/* Notes that a client has left. Its QP is destroyed, so none of its requests is under way. */
static void depart(struct our_control *agent, const struct our_exchange *exchange)
{
	bool has_told = exchange->received[OUR_COUNT_TOLD] || !agent->accepted;

	pthread_mutex_lock(&presence_lock);
	if (has_told)
		told += exchange->count;
	else
		some_died = true;
	if (!--present)
		check_sum(agent);
	pthread_mutex_unlock(&presence_lock);
}

/* All clients share the words, so the only memory that a client takes is its queues. */
int our_count_check(struct our_control *agent)
{
	our_session_of(agent)->memory = our_memory_of_buffers(0, our_run_of(agent)->data_size);
	return 0;
}

int our_count_agent(struct our_control *agent)
{
	struct our_one_sided one_sided;
	int ret;

	ret = our_migrate_id(agent); /* rdma_migrate_id */
	if (ret)
		return ret;
	/*
	 * ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv. A client has only
	 * the right to the words that it needs.
	 */
	ret = our_setup_shared_memory(agent, &one_sided, words, sizeof(words),
				      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	if (ret)
		goto out_reject;
	arrive();
	ret = our_agent_connect(agent, NULL, 0); /* rdma_accept */
	if (ret)
		goto out_disconnect;

	ret = our_serve_memory(agent, &one_sided);
	if (!ret)
		ret = our_await_client(agent);
	if (!ret)
		ret = our_check_for_more(agent);
	ret = our_report_results(agent, ret);

out_disconnect:
	our_disconnect(agent); /* rdma_disconnect, rdma_destroy_qp */
	/* ibv_dereg_mr, ibv_destroy_cq, ibv_dealloc_pd */
	our_unsetup_one_sided(agent, &one_sided);
	depart(agent, &one_sided.exchange);
out_reject:
	our_agent_reject(agent, ret); /* rdma_reject, unless it was accepted */
	our_destroy_id(agent);        /* rdma_destroy_id */
	return ret;
}
