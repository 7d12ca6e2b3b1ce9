/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-rdma-1: a chain of WRITEs, posted with one call. See blast_rdma.h.
 */
#include "blast-rdma-1/blast_rdma.h"
#include "common/transfer_posting.h"
#include "ping-rdma-1/transfer.h"

static struct ibv_send_wr *write_of(struct our_control *client, uint64_t message)
{
	return &client->buffers[message % client->n_buffers].send_wr;
}

/*
 * Requests of one QP complete in order: when the last is done, all before it are. A failure ends the
 * connection, so it does not matter that the requests before *bad_wr are posted.
 */
int our_post_write_chain(struct our_control *client, uint64_t n)
{
	struct our_progress *progress = client->transfer->progress;
	uint64_t first = progress->posted, last = first + n - 1, message;
	struct ibv_send_wr *bad_wr;
	int ret;

	for (message = first; message <= last; message++) {
		write_of(client, message)->send_flags &= ~(unsigned int)IBV_SEND_SIGNALED;
		write_of(client, message)->next = message < last ? write_of(client, message + 1)
								 : NULL;
	}
	write_of(client, last)->send_flags |= IBV_SEND_SIGNALED;
	ret = ibv_post_send(client->qp, write_of(client, first), &bad_wr);
	if (ret)
		return our_judge_post(client, "ibv_post_send", ret);
	progress->posted += n;
	our_histogram_add(&progress->statistics.wrs_per_post, n);
	return 0;
}
