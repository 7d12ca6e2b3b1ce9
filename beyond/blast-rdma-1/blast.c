/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of client and server beside their roles (client.c, agent.c): their command lines, what
 * the device must have for them, and the memory that an agent takes.
 */
#include <errno.h>

#include "beyond/blast-rdma-1/blast_rdma.h"
#include "common/roles.h"
#include "program/report.h"
#include "program/serve/session.h"

#define MAX_BUFFERS (1u << 20)

struct our_write_options our_write_options = { .buffers = 64, .depth = 1 };

static const struct our_option stream_options[] = {
	{ "buffers", 'b', "N", "how many messages may be under way (default 64)",
	  OUR_OWN_NUMBER(our_write_options.buffers, 1, MAX_BUFFERS) },
	{ "chain", 0, "N",
	  "post at most N at once; only the last of them makes a completion (default 16; 1 if "
	  "messages have 4 KiB or more)",
	  OUR_OWN_NUMBER(our_write_options.chain, 1, MAX_BUFFERS) },
	{ "verify", 'v', NULL, "number the messages, for a server that compares: give it to both",
	  OUR_FLAG(verify) },
	{ 0 },
};

/* Options of both sides */
static const struct our_option read_options[] = {
	{ "read", 0, NULL, "READ from the server's memory instead of WRITEs: give it to both",
	  OUR_OWN_FLAG(our_write_options.read) },
	{ "depth", 0, "N",
	  "with --read: at most N are under way, if the other side agrees (default 1)",
	  OUR_OWN_NUMBER(our_write_options.depth, 1, UINT8_MAX) },
	{ 0 },
};

static const struct our_option verify_options[] = {
	{ "verify", 'v', NULL, "compare the last message: give it to both", OUR_FLAG(verify) },
	{ 0 },
};

const struct our_program our_stream_writes_client_program = {
	.summary = "Writes messages into the server's memory as fast as it can, each over the one "
		   "before, and shows how fast that is.",
	.options = { our_client_options, our_rate_options, our_message_options, stream_options,
		     read_options },
};

const struct our_program our_stream_writes_server_program = {
	.summary = "Lets clients write to its memory, and sleeps meanwhile.",
	.options = { our_listener_options, verify_options, read_options },
	.timeout_s = 0, /* a client that writes sends nothing */
};

int our_check_stream(struct our_control *client)
{
	uint64_t buffers = our_write_options.buffers;
	uint32_t others = OUR_EXCHANGE_WRS + our_extra_sends(client);
	struct ibv_device_attr device;
	int ret, most;

	ret = OUR_CALL(ibv_query_device(client->verbs, &device));
	if (ret)
		return our_report_error("ibv_query_device", ret, NULL);
	if (our_write_options.read && (int)our_write_options.depth > device.max_qp_init_rd_atom) {
		our_report_sentence("--depth %u is more than %s takes: at most %d",
				    (unsigned int)our_write_options.depth, our_device_name(client),
				    device.max_qp_init_rd_atom);
		return EMSGSIZE;
	}
	if (our_write_options.read) /* WRITEs need no read depth */
		client->read_depth = (uint8_t)our_write_options.depth;
	most = device.max_cqe - (int)OUR_EXCHANGE_WRS;
	most = (most < device.max_qp_wr ? most : device.max_qp_wr) - (int)others;
	if ((int)buffers <= most)
		return 0;
	our_report_sentence("%u buffers (-b) are more than %s takes: %d, because it has at most %d "
			    "work requests a queue and %d entries a CQ",
			    (unsigned int)buffers, our_device_name(client), most, device.max_qp_wr,
			    device.max_cqe);
	return EMSGSIZE;
}

int our_stream_writes_check(struct our_control *agent)
{
	our_session_of(agent)->memory =
		our_memory_of_buffers(OUR_AGENT_BUFFERS, our_run_of(agent)->data_size);
	return 0;
}
