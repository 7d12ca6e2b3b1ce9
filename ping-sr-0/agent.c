/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The agent: the server's side of one connection, from the connect request to the tear-down.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/connection_management.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "program/report.h"

/*
 * After the last message a receive is still posted: reports it if the client has used it. All other
 * completions are of sends, which no longer matter, whatever their status.
 */
static int check_for_more(struct our_control *agent)
{
	struct ibv_wc wc;
	int polled;

	while ((polled = ibv_poll_cq(agent->cq, 1, &wc)) > 0) {
		if (wc.status != IBV_WC_SUCCESS || !our_is_recv(wc.wr_id))
			continue;
		our_report_sentence("the client sent more than the %" PRIu64 " messages due",
				    agent->count);
		agent->statistics.complete = false;
		return EPROTO;
	}
	return polled < 0 ? our_report_error("ibv_poll_cq", EIO, NULL) : 0;
}

/* Only the client's disconnect says that it has received everything. */
static int await_disconnect(struct our_control *agent)
{
	int ret = our_await_disconnect(agent, agent->options->timeout_s);

	if (!ret && our_cm_end(agent) != ECONNRESET)
		ret = our_cm_end(agent);
	return ret ? our_judge_end(agent, ret, agent->count) : 0;
}

/*
 * Exchanges messages with an accepted client. The client ends the connection when it has
 * everything. If we left first, our last message could be lost on the way to it.
 */
static int serve(struct our_control *agent)
{
	int ret, shown;

	ret = our_agent_operation(agent);
	if (!ret)
		ret = await_disconnect(agent);
	if (!ret && agent->count != OUR_COUNT_UNLIMITED)
		ret = check_for_more(agent);
	shown = our_report_results(agent);
	our_disconnect(agent);
	return shown ? shown : ret; /* whatever the client does: lost results are our failure */
}

/* Sets up everything that the connection needs, serves the client, and tears it down again. */
static int accept_and_serve(struct our_control *agent)
{
	int ret;

	ret = our_setup_agent_transfer(agent);
	if (ret)
		goto err_reject;
	ret = our_agent_connect(agent);
	if (ret)
		goto err_disconnect;

	ret = serve(agent);
	our_unsetup_transfer(agent);
	return ret;

err_disconnect:
	our_disconnect(agent);
	our_unsetup_transfer(agent);
err_reject:
	if (agent->cm_event.type == RDMA_CM_EVENT_CONNECT_REQUEST)
		our_agent_reject(agent, ret);
	return ret;
}

int our_agent(struct our_control *agent)
{
	int ret;

	ret = our_create_event_channel(agent);
	if (ret)
		goto err_turn_away;
	ret = our_migrate_id(agent, agent->cm_id);
	if (ret)
		goto out_destroy_event_channel;
	ret = accept_and_serve(agent);
	our_destroy_id(agent);

out_destroy_event_channel:
	our_destroy_event_channel(agent);
	our_dismiss(agent, ret);
	return ret;

err_turn_away:
	our_turn_away(agent, ret);
	return ret;
}
