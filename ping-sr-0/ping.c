/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What makes client and server a ping-pong: their command lines, and what each needs before it is
 * connected: a QP, two buffers, and a receive for the first message. What a stage provides: see
 * common/stage.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/memory_registration.h"
#include "common/stage.h"
#include "common/transfer_posting.h"
#include "ping-sr-0/ping.h"
#include "ping-sr-0/user_data.h"
#include "program/report.h"

static const struct our_option ping_options[] = {
	{ "verify", 'v', NULL, "compare every byte that comes back", OUR_FLAG(verify) },
	{ 0 },
};

const struct our_program our_ping_client_program = {
	.summary = "Sends messages to the server, waits for each to come back, and shows how long "
		   "that took.",
	.options = { our_client_options, our_message_options, ping_options },
};

const struct our_program our_ping_server_program = {
	.summary = "Waits for clients and sends all their messages back.",
	.options = { our_listener_options },
	.timeout_s = OUR_SERVER_TIMEOUT,
};

int our_setup_client_buffers(struct our_control *client)
{
	int ret = our_setup_buffers(client, OUR_PING_BUFFERS, IBV_ACCESS_LOCAL_WRITE);

	if (ret)
		return ret;
	our_setup_user_data(client, OUR_SEND_BUFFER, 0);
	return 0;
}

int our_setup_agent_buffers(struct our_control *agent)
{
	return our_setup_buffers(agent, OUR_PING_BUFFERS, IBV_ACCESS_LOCAL_WRITE);
}

static int setup_transfer(struct our_control *control, int (*setup_buffers)(struct our_control *),
			  uint32_t first_receive)
{
	int ret;

	ret = our_setup_qp(control, OUR_PING_MAX_SEND, OUR_PING_MAX_RECV);
	if (ret)
		return ret;
	ret = setup_buffers(control);
	if (ret)
		goto err_unsetup_qp;
	ret = our_post_recv(control, first_receive);
	if (ret)
		goto err_unsetup_buffers;
	return 0;

err_unsetup_buffers:
	our_unsetup_buffers(control);
err_unsetup_qp:
	our_unsetup_qp(control);
	return ret;
}

int our_setup_client_transfer(struct our_control *client)
{
	return setup_transfer(client, our_setup_client_buffers, OUR_RECV_BUFFER);
}

int our_check_transfer(struct our_control *agent)
{
	agent->memory = our_memory_of_buffers(agent, OUR_PING_BUFFERS);
	return 0;
}

int our_setup_agent_transfer(struct our_control *agent)
{
	int ret;

	agent->transfer = calloc(1, sizeof(*agent->transfer));
	if (!agent->transfer)
		return our_report_error("calloc", ENOMEM, NULL);
	agent->transfer->received = OUR_PING_NO_BUFFER;
	ret = setup_transfer(agent, our_setup_agent_buffers, 0);
	if (ret)
		free(agent->transfer);
	return ret;
}

void our_unsetup_transfer(struct our_control *control)
{
	our_unsetup_buffers(control);
	our_unsetup_qp(control);
	free(control->transfer); /* a client has none */
	control->transfer = NULL;
}
