/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: the agent of a ping-pong as reactions: what ping-sr-0/agent.c sets up and undoes
 * around its waits, and what it does about a completion (ping-sr-0/react.c). This file repeats the
 * set-up, because in ping-sr-0 it is the lesson, to be read and changed in one piece. See struct
 * our_agent_ops.
 */
#include "common/roles.h"
#include "ping-sr-0/ping.h"
#include "ping-sr-4/server.h"
#include "program/measure/run.h"
#include "program/stage.h"

static int start_echoes(struct our_control *agent, void *state)
{
	struct our_run *run = our_run_of(agent);
	struct our_echo *echo = state;
	int ret;

	echo->received = OUR_PING_NO_BUFFER;
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp */
	ret = our_setup_qp(agent, OUR_PING_MAX_SEND, OUR_PING_MAX_RECV);
	if (ret)
		return ret;
	/* ibv_reg_mr */
	ret = our_setup_buffers(agent, OUR_PING_BUFFERS, run->data_size, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto err_unsetup_qp;
	/* ibv_post_recv: before the client can send */
	ret = our_post_recv(agent, OUR_FIRST_BUFFER);
	if (ret)
		goto err_unsetup_buffers;
	return 0;

err_unsetup_buffers:
	our_unsetup_buffers(agent);
err_unsetup_qp:
	our_unsetup_qp(agent);
	return ret;
}

static void stop_echoes(struct our_control *agent, void *state)
{
	(void)state;
	our_destroy_qp(agent); /* rdma_destroy_qp, because a receive is posted */
	our_unsetup_buffers(agent);
	our_unsetup_qp(agent);
}

const struct our_agent_ops our_echoes = {
	.state_size = sizeof(struct our_echo),
	.start = start_echoes,
	.react = our_ping_react,
	.stop = stop_echoes,
};
