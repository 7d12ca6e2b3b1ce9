/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-sr-2: the command lines of client and server, and the server's limits for a client. See
 * blast.h.
 */
#include <errno.h>
#include <inttypes.h>

#include "blast-sr-2/blast.h"
#include "common/roles.h"
#include "ping-sr-1/connect_info.h"
#include "program/report.h"
#include "program/serve/session.h"

#define MAX_BUFFERS (1u << 20)

struct our_blast_options our_blast_options = {
	.buffers = 64,
	.inline_size = OUR_INLINE_WANTED,
	.sge = 1,
	.max_buffers = 65536,
};

static const struct our_option stream_client_options[] = {
	{ "buffers", 'b', "N",
	  "of each side: the number of messages that may be under way (default 64)",
	  OUR_OWN_NUMBER(our_blast_options.buffers, 1, MAX_BUFFERS) },
	{ "signal-every", 0, "N",
	  "ask for a completion of only every Nth send (default: -b / 4; of each from 4 KiB on)",
	  OUR_OWN_NUMBER(our_blast_options.signal_every, 1, UINT32_MAX) },
	{ "inline", 0, "BYTES", "send messages up to this long inline, if the QP can (default 64)",
	  OUR_OWN_BYTES(our_blast_options.inline_size, 0, UINT32_MAX) },
	{ "no-credits", 0, NULL,
	  "send whether or not the server has a receive posted: see the README",
	  OUR_OWN_FLAG(our_blast_options.no_credits) },
	{ 0 },
};

static const struct our_option stream_server_options[] = {
	{ "max-buffers", 0, "N", "refuse a client that wants more buffers (default 65536)",
	  OUR_OWN_NUMBER(our_blast_options.max_buffers, 1, MAX_BUFFERS) },
	{ "credit-batch", 0, "N",
	  "post N receives again at a time, and return their credits (default: -b / 4)",
	  OUR_OWN_NUMBER(our_blast_options.credit_batch, 1, UINT32_MAX) },
	{ "sleep", 0, "MICROSECONDS", "sleep after each message, like a slow receiver",
	  OUR_OWN_NUMBER(our_blast_options.sleep_us, 1, 10000000) },
	{ 0 },
};

static const struct our_option stream_options[] = {
	{ "chain", 0, "N", "post at most N work requests at once (default: as many as possible)",
	  OUR_OWN_NUMBER(our_blast_options.chain, 1, UINT32_MAX) },
	{ "sge", 0, "N", "gather a message from N pieces, or scatter it to N (default 1)",
	  OUR_OWN_NUMBER(our_blast_options.sge, 1, 1024) },
	{ "verify", 'v', NULL, "the server compares every byte that arrives: give it to both",
	  OUR_FLAG(verify) },
	{ 0 },
};

const struct our_program our_blast_client_program = {
	.summary = "Streams messages to the server as fast as it takes them, and shows how fast "
		   "that is.",
	.options = { our_client_options, our_rate_options, our_message_options,
		     stream_client_options, stream_options },
};

const struct our_program our_blast_server_program = {
	.summary = "Takes the messages that clients stream to it, and returns credits.",
	.options = { our_listener_options, stream_server_options, stream_options },
	.timeout_s = OUR_SERVER_TIMEOUT,
};

int our_blast_check(struct our_control *agent)
{
	struct our_run *run = our_run_of(agent);
	uint64_t most = our_blast_options.max_buffers;
	uint32_t n = run->n_data_buffers;

	if (!n || n > most) {
		our_report_sentence("client refused: it wants %u buffers, and 1 to %" PRIu64
				    " are allowed (--max-buffers)",
				    n, most);
		return our_note_refusal(agent, OUR_REFUSED_BUFFERS, most);
	}
	our_session_of(agent)->memory = our_memory_of_buffers(n, run->data_size) +
					n * our_blast_options.sge * sizeof(struct ibv_sge);
	return 0;
}
