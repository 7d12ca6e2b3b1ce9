/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An agent and the end of its run: its client leaves when it has everything or its time is over,
 * having sent no more than it had announced.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/clock.h"
#include "common/roles.h"
#include "program/measure/run.h"
#include "program/report.h"
#include "program/serve/serve.h"

#define QUIET_NS OUR_NS_PER_S

/*
 * A client that runs for a time (-D) leaves when the time is over. In stages that do not read CM
 * events while they poll the CQ, the agent checks for that after each second of silence.
 */
int our_await_client_message(struct our_control *agent, struct our_completion *completion)
{
	int ret, end = 0;

	if (our_run_of(agent)->count != OUR_COUNT_UNLIMITED)
		return our_await_completion(agent, completion);
	do {
		ret = our_await_time(agent, our_now_ns() + QUIET_NS, completion);
		if (ret == EAGAIN)
			end = our_how_ended(agent);
	} while (ret == EAGAIN && !end);
	return ret == EAGAIN ? end : ret;
}

/*
 * After the last message a receive is still posted. Reports a client that has used it. Sends no
 * longer matter, whatever their status.
 */
int our_check_for_more(struct our_control *agent)
{
	struct our_run *run = our_run_of(agent);
	struct ibv_wc wc;
	int polled;

	if (run->count == OUR_COUNT_UNLIMITED)
		return 0;
	while ((polled = ibv_poll_cq(agent->cq, 1, &wc)) > 0) {
		if (wc.wr_id == OUR_WR_ID_KEEPALIVE) /* the wait for the end must not include it */
			agent->config->waiting.cm->keepalive->answered(agent);
		if (wc.status != IBV_WC_SUCCESS || !our_is_recv(wc.wr_id))
			continue;
		our_report_sentence("the client sent more than the %" PRIu64 " messages due",
				    run->count);
		agent->complete = false;
		return EPROTO;
	}
	return polled < 0 ? our_report_error("ibv_poll_cq", EIO, NULL) : 0;
}

/* Only the client's disconnect says that it has received everything. */
int our_await_client(struct our_control *agent)
{
	struct our_run *run = our_run_of(agent);
	int ret = our_await_disconnect(agent, run->options->timeout_s);

	if (!ret && our_how_ended(agent) != ECONNRESET)
		ret = our_how_ended(agent);
	return ret ? our_judge_end(run, ret, run->count) : 0;
}
