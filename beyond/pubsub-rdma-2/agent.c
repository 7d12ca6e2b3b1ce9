/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The agent of a subscriber that is written to, from its first verb to its last: in each turn it
 * WRITEs the record, as it is then, into its subscriber's memory. It waits only for its own
 * subscriber. See client.c for the other side, and ping-sr-0/agent.c for who calls this.
 */
#include <errno.h>
#include <string.h>

#include "beyond/ping-rdma-1/one_sided.h"
#include "beyond/pubsub-rdma-1/publication.h"
#include "beyond/pubsub-rdma-1/record.h"
#include "common/clock.h"
#include "common/roles.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"
#include "program/stage.h"

#define NO_ACCESS 0

const struct our_program our_pubsub_writes_server_program = {
	.summary = "Publishes a record that it changes again and again, and writes it into the "
		   "memory of each client.",
	.options = { our_listener_options, our_publication_options },
	.timeout_s = 0, /* a subscriber that is written to sends nothing */
};

/* The state of an agent beside struct our_control. */
struct subscription {
	struct our_one_sided one_sided;
	bool writing;     /* a WRITE has been posted and not completed */
	uint64_t written; /* records, with the one under way */
};

int our_pubsub_writes_check(struct our_control *agent)
{
	our_session_of(agent)->memory =
		our_memory_of_buffers(OUR_AGENT_BUFFERS, our_run_of(agent)->data_size);
	return our_check_record_wanted(agent);
}

static int take(struct subscription *subscription, const struct our_completion *completion)
{
	if (our_is_exchange(completion->wr_id))
		return our_take_exchange(&subscription->one_sided.exchange, completion);
	subscription->writing = false;
	return 0;
}

/* Learns where to write. The subscriber may not access the memory that it is told of. */
static int meet_subscriber(struct our_control *agent, struct our_one_sided *one_sided)
{
	struct our_run *run = our_run_of(agent);
	struct our_exchange *exchange = &one_sided->exchange;
	int ret = our_await_told(agent, exchange, OUR_BUFFER_TOLD);

	if (!ret)
		ret = our_check_remote_buffer(agent, &exchange->buffer);
	if (ret)
		return ret;
	our_setup_write_wr(agent, OUR_AGENT_BUFFER, &exchange->buffer);
	our_start_measuring(run);
	our_limit_wait(run, our_now_ns());
	return our_tell_buffer(agent, exchange, one_sided->open); /* ibv_post_send */
}

/*
 * Writes the record from a copy, which belongs to the device until the WRITE is done. A slow
 * subscriber misses the changes meanwhile, and gets the record as it is then.
 */
static int write_record(struct our_control *agent, struct subscription *subscription,
			const uint8_t *record)
{
	struct our_run *run = our_run_of(agent);
	struct our_buffer *buffer = &agent->memory.buffers[OUR_AGENT_BUFFER];
	uint8_t *copy = buffer->data;
	int ret;

	if (subscription->writing || our_record_number(record) == our_record_number(copy))
		return 0;
	if (!our_copy_record(copy, record, run->data_size)) {
		memset(copy, 0, run->data_size); /* the record is being changed: skips this turn */
		return 0;
	}
	ret = our_post(agent, &buffer->send_wr, NULL); /* ibv_post_send: the WRITE */
	subscription->writing = !ret;
	subscription->written += !ret;
	return ret;
}

static int write_records(struct our_control *agent, struct subscription *subscription,
			 const uint8_t *record)
{
	const bool *has_told = &subscription->one_sided.exchange.received[OUR_COUNT_TOLD];
	uint64_t now_ns, turn_ns = our_now_ns();
	struct our_completion completion;
	int ret = 0;

	while (!ret && !*has_told) {
		ret = our_await_time(agent, turn_ns, &completion); /* ppoll, ibv_poll_cq */
		if (!ret) {
			ret = take(subscription, &completion);
		} else if (ret == EAGAIN) {
			now_ns = our_now_ns();
			turn_ns += our_publication_period_ns();
			if (turn_ns < now_ns)
				turn_ns = now_ns; /* turns that were missed are not made up for */
			ret = our_keep_waiting(agent); /* a late agent never waits */
			if (!ret)
				ret = write_record(agent, subscription, record);
		}
	}
	return ret;
}

/* The subscriber closes its memory when it has our count: then no WRITE may be under way. */
static int end_with_count(struct our_control *agent, struct subscription *subscription)
{
	struct our_completion completion;
	int ret = 0;

	our_limit_wait(our_run_of(agent), our_now_ns());
	while (!ret && subscription->writing) {
		ret = our_await_completion(agent, &completion);
		if (!ret)
			ret = take(subscription, &completion);
	}
	return ret ? ret
		   : our_tell_count(agent, &subscription->one_sided.exchange,
				    subscription->written);
}

static int judge(struct our_control *agent, const struct subscription *subscription, int ret)
{
	struct our_run *run = our_run_of(agent);
	uint64_t taken = our_read_count(subscription->one_sided.exchange.count, run->count);

	run->statistics.messages = subscription->written;
	our_statistics_end(&run->statistics);
	if (run->count == OUR_COUNT_UNLIMITED)
		run->count = taken; /* the subscriber's count; leaving without one is an error */
	if (!ret && taken != run->count)
		ret = ECONNRESET; /* the subscriber leaves early, and has said so */
	return our_judge_end(run, ret, subscription->written);
}

static int our_agent_operation(struct our_control *agent, struct subscription *subscription)
{
	struct our_run *run = our_run_of(agent);
	uint8_t *record;
	int ret;

	ret = our_open_publication(&record); /* the first subscriber starts its thread */
	if (ret)
		return ret;
	our_prepare_run(run);
	run->statistics.warm_up = 0; /* the agent does not see what the subscriber takes */
	our_limit_wait(run, our_now_ns());
	if (agent->wait_until_ns == UINT64_MAX)
		agent->wait_until_ns = our_end_of_wait(OUR_SERVER_TIMEOUT); /* for the first word */
	ret = meet_subscriber(agent, &subscription->one_sided);
	if (!ret)
		ret = write_records(agent, subscription, record);
	if (!ret)
		ret = end_with_count(agent, subscription);
	our_close_publication();
	return judge(agent, subscription, ret);
}

int our_pubsub_writes_agent(struct our_control *agent)
{
	struct subscription subscription = { 0 };
	int ret;

	ret = our_migrate_id(agent); /* rdma_migrate_id */
	if (ret)
		return ret;
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv */
	ret = our_setup_one_sided(agent, &subscription.one_sided, OUR_AGENT_BUFFERS,
				  OUR_AGENT_BUFFER, NO_ACCESS);
	if (ret)
		goto out_reject;
	ret = our_agent_connect(agent, NULL, 0); /* rdma_accept */
	if (ret)
		goto out_disconnect;

	ret = our_agent_operation(agent, &subscription);
	if (!ret)
		ret = our_await_client(agent);
	if (!ret)
		ret = our_check_for_more(agent);
	ret = our_report_results(agent, ret);

out_disconnect:
	our_disconnect(agent); /* rdma_disconnect, rdma_destroy_qp */
	/* ibv_dereg_mr, ibv_destroy_cq, ibv_dealloc_pd */
	our_unsetup_one_sided(agent, &subscription.one_sided);
out_reject:
	our_agent_reject(agent, ret); /* rdma_reject, unless it was accepted */
	our_destroy_id(agent);        /* rdma_destroy_id */
	return ret;
}
