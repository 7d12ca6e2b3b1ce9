/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client that is written to, from its first verb to its last: it looks at its memory now and
 * then, until there is a new record and it is whole. Compare beyond/pubsub-rdma-1/client.c, and see
 * ping-sr-0/client.c for who calls this.
 */
#include <errno.h>

#include "beyond/ping-rdma-1/one_sided.h"
#include "beyond/pubsub-rdma-1/publication.h"
#include "beyond/pubsub-rdma-1/record.h"
#include "common/clock.h"
#include "common/roles.h"
#include "ping-sr-0/ping.h"
#include "ping-sr-2/keepalive.h"
#include "program/measure/run.h"
#include "program/report.h"
#include "program/serve/serve.h"
#include "program/stage.h"

#define LOOK_NS 100000 /* from one look to the next */

#define WRITTEN_BUFFER OUR_RECV_BUFFER /* the publisher's device writes here at any time */
#define COPY_BUFFER    OUR_SEND_BUFFER /* the copy that is used */

const struct our_program our_pubsub_writes_client_program = {
	.summary = "Lets the server write its record here, takes that many of them (-c), and shows "
		   "how long it waited for each.",
	.options = { our_client_options, our_rate_options, our_message_options,
		     our_record_options },
};

/* Takes the record if it is whole, and newer than number *newest. Returns true if it has. */
static bool take_record(struct our_control *client, uint64_t *newest)
{
	uint8_t *copy = client->memory.buffers[COPY_BUFFER].data;

	if (!our_copy_record(copy, client->memory.buffers[WRITTEN_BUFFER].data,
			     our_run_of(client)->data_size) ||
	    our_record_number(copy) <= *newest)
		return false;
	*newest = our_record_number(copy);
	our_note_life(client); /* the publisher's host is there */
	return true;
}

/* Sleeps until it is time for the next look, or something arrives. */
static int await_look(struct our_control *client, struct our_exchange *exchange)
{
	struct our_completion completion;
	int ret = our_await_time(client, our_now_ns() + LOOK_NS, &completion);

	if (!ret)
		ret = our_take_exchange(exchange, &completion);
	if (!ret && exchange->received[OUR_COUNT_TOLD]) {
		our_report_sentence("the publisher has told its count, and more records are due");
		return EPROTO;
	}
	/* A look that is overdue did not wait, so our_keep_waiting was not called. */
	return ret == EAGAIN ? our_keep_waiting(client) : ret;
}

static int our_client_operation(struct our_control *client, struct our_one_sided *one_sided)
{
	uint64_t newest = 0, verified = 0;
	struct our_run *run = our_run_of(client);
	int ret;

	our_begin_run(run);
	ret = our_start_exchange(client, one_sided); /* tells the agent where to write */
	while (!ret && our_next_message(run)) {      /* -c, -D, Ctrl-C */
		ret = our_await_turn(run);           /* --rate */
		if (ret)
			break;
		our_start_clock(run);
		while (!ret && !take_record(client, &newest)) /* no verb: looks at its memory */
			ret = await_look(client, &one_sided->exchange);
		if (ret)
			break;
		our_stop_clock(run);
		if (run->options->verify)
			ret = our_verify_record(client->memory.buffers[COPY_BUFFER].data,
						run->data_size, &verified);
	}
	our_statistics_end(&run->statistics);
	if (!ret)
		ret = our_end_exchange(client, one_sided, run->message); /* records taken */
	return our_end_run(run, ret);
}

int our_pubsub_writes_client(struct our_control *client, struct sockaddr *server)
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
	if (!our_is_record_size(our_run_of(client)->data_size)) {
		ret = EMSGSIZE;
		goto out_destroy_id;
	}
	/*
	 * On iWARP a keepalive is a READ, and soft-iWARP confuses it with the publisher's WRITEs:
	 * after a loss, many of them arrive together (docs/drivers.md).
	 */
	if (our_is_iwarp(client))
		our_stop_keepalive(client);
	/* ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv */
	ret = our_setup_one_sided(client, &one_sided, OUR_PING_BUFFERS, WRITTEN_BUFFER,
				  IBV_ACCESS_REMOTE_WRITE);
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
