/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-sr-2: work requests in chains. One call of ibv_post_send or ibv_post_recv takes all that
 * are linked, with one doorbell, which may be a system call. If a call fails, the work requests
 * before *bad_wr are posted, and the rest are not. That ends the connection, so *bad_wr does not
 * matter. See blast.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "blast-sr-2/blast.h"
#include "common/roles.h"
#include "program/measure/run.h"
#include "program/report.h"

static struct our_buffer *buffer_of(const struct our_control *control, uint64_t message)
{
	return &control->memory.buffers[message % our_run_of(control)->n_data_buffers];
}

/* A signaled send's completion says that all sends before it are done, too. */
static void signal_some(struct our_control *client, const struct our_blast *blast, uint64_t message)
{
	struct ibv_send_wr *wr = &buffer_of(client, message)->send_wr;

	if ((message + 1) % blast->signal_every)
		wr->send_flags &= ~(unsigned int)IBV_SEND_SIGNALED;
	else
		wr->send_flags |= IBV_SEND_SIGNALED;
}

static int post_sends(struct our_control *client, uint64_t first, uint64_t n)
{
	uint64_t message;

	for (message = first; message < first + n; message++)
		buffer_of(client, message)->send_wr.next =
			message + 1 < first + n ? &buffer_of(client, message + 1)->send_wr : NULL;
	return our_post(client, &buffer_of(client, first)->send_wr, NULL); /* ibv_post_send */
}

static int post_recvs(struct our_control *agent, uint64_t first, uint64_t n)
{
	uint64_t message;

	for (message = first; message < first + n; message++)
		buffer_of(agent, message)->recv_wr.next =
			message + 1 < first + n ? &buffer_of(agent, message + 1)->recv_wr : NULL;
	return our_post_recvs(agent, &buffer_of(agent, first)->recv_wr); /* ibv_post_recv */
}

/* Posts the next `n` work requests in chains that are no longer than allowed. */
static int post_chains(struct our_control *control, struct our_blast *blast, uint64_t n,
		       int (*post)(struct our_control *, uint64_t first, uint64_t n))
{
	uint64_t longest = our_blast_options.chain ? our_blast_options.chain : n, length;
	int ret;

	for (; n; n -= length) {
		length = n < longest ? n : longest;
		ret = post(control, blast->posted, length);
		if (ret)
			return ret;
		blast->posted += length;
		our_histogram_add(&our_run_of(control)->stream.wrs_per_post, length);
	}
	return 0;
}

int our_post_send_chain(struct our_control *client, struct our_blast *blast, uint64_t n)
{
	uint64_t message;

	for (message = blast->posted; message < blast->posted + n; message++)
		signal_some(client, blast, message);
	return post_chains(client, blast, n, post_sends);
}

int our_post_recv_chain(struct our_control *agent, struct our_blast *blast, uint64_t n)
{
	return post_chains(agent, blast, n, post_recvs);
}

/* The first elements are a byte longer if n_sge does not divide the size. */
static void setup_pieces_of(struct our_control *control, struct our_buffer *buffer,
			    struct ibv_sge *sges)
{
	struct our_run *run = our_run_of(control);
	uint32_t length = run->data_size / control->n_sge;
	uint32_t longer = run->data_size % control->n_sge, i;
	uint8_t *data = buffer->data;

	for (i = 0; i < control->n_sge; i++) {
		our_setup_sge(&sges[i], data, length + (i < longer), control->memory.mr->lkey);
		data += sges[i].length;
	}
	our_set_inline(control, &buffer->send_wr, run->data_size);
	buffer->send_wr.sg_list = sges;
	buffer->send_wr.num_sge = (int)control->n_sge;
	buffer->recv_wr.sg_list = sges;
	buffer->recv_wr.num_sge = (int)control->n_sge;
}

int our_setup_pieces(struct our_control *control, struct our_blast *blast)
{
	struct our_run *run = our_run_of(control);
	uint32_t i;

	blast->sges = calloc((size_t)run->n_data_buffers * control->n_sge, sizeof(*blast->sges));
	if (!blast->sges)
		return our_report_error("calloc", ENOMEM, NULL);
	for (i = 0; i < run->n_data_buffers; i++)
		setup_pieces_of(control, &control->memory.buffers[i],
				&blast->sges[(size_t)i * control->n_sge]);
	return 0;
}

void our_unsetup_pieces(struct our_blast *blast)
{
	free(blast->sges);
}
