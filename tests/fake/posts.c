/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, what is posted to a queue pair. Contract: messages are copied when they are
 * posted and when they arrive. Reports memory that is in no MR, queues that overflow, and inline
 * data that is too long.
 */
#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/state.h"

#define MOST_SUMMED 65536 /* bytes: to add up all of the longest message takes too long */

static struct fake_mr *find_mr(const struct fake_pd *pd, const struct ibv_sge *sge,
			       const char *call)
{
	struct fake_mr *mr = fake_find_mr(sge->lkey);

	if (mr && mr->pd == pd && sge->addr >= (uintptr_t)mr->pub.addr &&
	    sge->addr + sge->length <= (uintptr_t)mr->pub.addr + mr->pub.length)
		return mr;
	fake_complain("%s: memory that lies in no MR", call);
	return NULL;
}

/* Copies the SGEs of a work request. Returns false if there are more than the QP allows. */
static bool take_pieces(struct fake_wr *wr, const struct ibv_sge *sge, int n, uint32_t most,
			const char *call)
{
	int i;

	if (n < 0 || (uint32_t)n > most) {
		fake_complain("%s: %d pieces, where the QP can have %u", call, n, most);
		return false;
	}
	wr->n_sge = (uint32_t)n;
	if (wr->n_sge > fake_report->pieces)
		fake_report->pieces = wr->n_sge;
	for (i = 0; i < n; i++) {
		if (!sge[i].length) /* in the InfiniBand specification it stands for 2^31 */
			fake_complain("%s: a piece of 0 bytes", call);
		wr->sge[i] = sge[i];
		wr->length += sge[i].length;
	}
	return true;
}

/* Checks that all of the request's memory is in memory regions, and remembers the last of these. */
static void find_mrs(const struct fake_pd *pd, struct fake_wr *wr, const char *call)
{
	uint32_t i;

	for (i = 0; i < wr->n_sge; i++)
		wr->mr = find_mr(pd, &wr->sge[i], call);
}

/* FNV-1a, and never 0. */
static uint64_t sum_of(const struct fake_wr *wr)
{
	uint64_t sum = 0xcbf29ce484222325u;
	const uint8_t *data;
	uint32_t i, at;

	for (i = 0; i < wr->n_sge; i++) {
		data = (const uint8_t *)(uintptr_t)wr->sge[i].addr;
		for (at = 0; at < wr->sge[i].length; at++)
			sum = (sum ^ data[at]) * 0x100000001b3u;
	}
	return sum + !sum;
}

void fake_check_unchanged(const struct fake_wr *wr)
{
	if (wr->sum && wr->sum != sum_of(wr))
		fake_complain("a buffer was written to before its send or WRITE was complete");
}

static void send_pieces(struct fake_qp *qp, const struct fake_wr *wr)
{
	uint8_t *data = fake_allocate(wr->length), *to = data;
	uint32_t i;

	for (i = 0; i < wr->n_sge; to += wr->sge[i++].length)
		memcpy(to, (const uint8_t *)(uintptr_t)wr->sge[i].addr, wr->sge[i].length);
	fake_put_send(qp, wr, data);
	free(data);
}

void fake_scatter(const struct fake_wr *wr, const uint8_t *data, uint32_t length)
{
	uint32_t i, part;

	for (i = 0; length; i++) {
		part = length < wr->sge[i].length ? length : wr->sge[i].length;
		memcpy((void *)(uintptr_t)wr->sge[i].addr, data, part);
		data += part;
		length -= part;
	}
}

#define CACHE_LINE 64

/* Whether one of the queue's work requests has memory in the lines from `from` to `to`. */
static bool is_used(const struct fake_queue *queue, uint64_t from, uint64_t to)
{
	const struct ibv_sge *sge;
	unsigned int i;

	for (i = 0; i < queue->n; i++) {
		sge = &queue->wr[(queue->first + i) % queue->size].sge[0];
		if (sge->addr / CACHE_LINE <= to &&
		    (sge->addr + sge->length - 1) / CACHE_LINE >= from)
			return true;
	}
	return false;
}

/*
 * The device writes to the memory of a receive while the CPU, or the device, uses other memory: if
 * both are in one cache line, each waits for the other.
 */
static void check_lines(const struct fake_queue *others, const struct ibv_sge *sge,
			const char *call)
{
	uint64_t from = sge->addr / CACHE_LINE, to = (sge->addr + sge->length - 1) / CACHE_LINE;

	if (fake_config->own_lines && is_used(others, from, to))
		fake_complain("%s: a receive shares a cache line with another work request", call);
}

/* Two messages would be written to the same memory. */
static void check_posted_once(const struct fake_queue *queue, const struct fake_wr *wr,
			      const char *call)
{
	const struct ibv_sge *sge = &wr->sge[0], *other;
	unsigned int i;

	for (i = 0; wr->n_sge && i < queue->n; i++) {
		other = &queue->wr[(queue->first + i) % queue->size].sge[0];
		if (sge->addr < other->addr + other->length &&
		    other->addr < sge->addr + sge->length) {
			fake_complain("%s: the memory of a receive that is posted already", call);
			return;
		}
	}
}

static int push(struct fake_queue *queue, const struct fake_wr *wr, const char *call)
{
	if (queue->n == queue->max) {
		fake_complain("%s: more than the %u that there can be outstanding", call,
			      queue->max);
		return ENOMEM;
	}
	queue->wr[(queue->first + queue->n++) % queue->size] = *wr;
	return 0;
}

/* The peer sends nothing more, so the program cannot notice the failure. */
static void strike(const struct fake_peer *peer)
{
	fake_strikes();
	fake_report->last_word = peer->count == (peer->is_client ? peer->sent : peer->received);
	/* The server answers the program's count, so this was not the last message. */
	if (fake_config->one_sided && !peer->is_client)
		fake_report->last_word = false;
}

/* The peer notices a failure, too, unless the program's own link is down, which flushes. */
static void peer_notices(const struct fake_qp *qp, const struct fake_fault *fault)
{
	if (fault->wc_status != IBV_WC_WR_FLUSH_ERR || fake_config->iwarp || fake_report->last_word)
		fake_put_leave(qp->id->peer);
}

/* Completes a send that was posted. */
static void go(struct fake_qp *qp, const struct fake_wr *wr, const struct fake_fault *fault)
{
	if (fault->name && !fault->error)
		strike(qp->id->peer);
	if (qp->pub.state == IBV_QPS_ERR)
		fake_flush(qp);
	else if (fault->peer_leaves) {
		if (fake_config->iwarp) /* soft-iWARP writes to a TCP connection that has gone */
			raise(SIGPIPE);
		fake_put_leave(qp->id->peer);
	} else if (fault->device_leaves)
		fake_device_leaves(qp->id);
	else if (!fault->wc_status)
		send_pieces(qp, wr);
	else {
		fake_complete_send(qp, fault->wc_status);
		peer_notices(qp, fault);
	}
}

/*
 * A request that moves no byte needs no memory, and the peer's program does not notice it. The
 * peer's device acknowledges it if the transport has acknowledgements: on iWARP only a READ is
 * answered.
 */
static int post_empty(struct fake_qp *qp, const struct ibv_send_wr *send_wr,
		      const struct fake_fault *fault)
{
	bool agreed = !fake_config->no_reads && !fake_config->only_ours &&
		      !fake_config->only_the_peers;
	bool read = send_wr->opcode == IBV_WR_RDMA_READ;
	struct fake_wr wr = { .wr_id = send_wr->wr_id,
			      .empty = true,
			      .opcode = read ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE };
	int error;

	if (qp->pub.state == IBV_QPS_INIT || (read && !agreed) || send_wr->num_sge != read ||
	    (read && send_wr->sg_list[0].length) || !(send_wr->send_flags & IBV_SEND_SIGNALED)) {
		fake_complain("ibv_post_send: not connected, or a bad WRITE or READ");
		return EINVAL;
	}
	error = push(&qp->sends, &wr, "ibv_post_send");
	if (error)
		return error;
	fake_report->asked++;
	if (qp->empty++)
		fake_complain("ibv_post_send: one such request is enough");
	if (fault->name || qp->pub.state == IBV_QPS_ERR)
		go(qp, &wr, fault);
	else if (!fake_is_dead(qp->id->peer) || (fake_config->iwarp && !read))
		fake_put_ack(qp);
	return 0;
}

/*
 * The target has eight bytes, at a multiple of eight; the old value goes to memory that the device
 * may write to.
 */
static bool take_atomic(struct fake_wr *wr, const struct ibv_send_wr *send_wr)
{
	bool adds = send_wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;

	wr->opcode = adds ? IBV_WC_FETCH_ADD : IBV_WC_COMP_SWAP;
	wr->remote_address = send_wr->wr.atomic.remote_addr;
	wr->rkey = send_wr->wr.atomic.rkey;
	wr->compare_add = send_wr->wr.atomic.compare_add;
	wr->swap = send_wr->wr.atomic.swap;
	if (fake_config->counts && wr->n_sge == 1 && wr->length == sizeof(uint64_t) &&
	    !(wr->remote_address % sizeof(uint64_t)) && !(send_wr->send_flags & IBV_SEND_INLINE))
		return true;
	fake_complain(
		"ibv_post_send: an atomic operation that is inline, of other than 8 bytes, not "
		"at a multiple of 8, or no business of this stage");
	return false;
}

/* Checks the operation and its target. Returns false if it is not permitted. */
static bool take_opcode(const struct fake_qp *qp, struct fake_wr *wr,
			const struct ibv_send_wr *send_wr)
{
	if (send_wr->opcode == IBV_WR_SEND)
		return true;
	if (send_wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    send_wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
		return take_atomic(wr, send_wr) && fake_check_request(qp, wr);
	wr->opcode = send_wr->opcode == IBV_WR_RDMA_READ ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE;
	wr->remote_address = send_wr->wr.rdma.remote_addr;
	wr->rkey = send_wr->wr.rdma.rkey;
	wr->has_immediate = send_wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	wr->immediate = wr->has_immediate ? be32toh(send_wr->imm_data) : 0;
	if (wr->has_immediate != (fake_config->immediate && !fake_config->one_side) ||
	    (wr->has_immediate && fake_config->iwarp)) {
		fake_complain("ibv_post_send: immediate data where there are none, or none");
		return false;
	}
	if (!fake_config->one_sided || fake_config->counts ||
	    (wr->opcode == IBV_WC_RDMA_READ && send_wr->send_flags & IBV_SEND_INLINE)) {
		fake_complain("ibv_post_send: a READ inline, or no business of this stage");
		return false;
	}
	return fake_check_request(qp, wr);
}

static int post_send(struct fake_qp *qp, const struct ibv_send_wr *send_wr,
		     const struct fake_fault *fault)
{
	struct fake_wr wr = { .wr_id = send_wr->wr_id };
	bool is_inline = send_wr->send_flags & IBV_SEND_INLINE;
	int error;

	if (!take_pieces(&wr, send_wr->sg_list, send_wr->num_sge, qp->send_sge, "ibv_post_send"))
		return EINVAL;
	if (qp->pub.state == IBV_QPS_INIT || (is_inline && wr.length > qp->max_inline)) {
		fake_complain("ibv_post_send: not connected, or inline data too long");
		return EINVAL;
	}
	if (is_inline && wr.length > qp->inline_wanted)
		fake_complain("ibv_post_send: inline, although that was not asked for");
	wr.silent = !qp->all_signaled && !(send_wr->send_flags & IBV_SEND_SIGNALED);
	fake_report->signaled += !wr.silent;
	fake_report->inlined += is_inline;
	if (!is_inline)
		find_mrs(qp->pd, &wr, "ibv_post_send");
	check_lines(fake_receives_of(qp), send_wr->sg_list, "ibv_post_send");
	if (!take_opcode(qp, &wr, send_wr))
		return EINVAL;
	if (!is_inline && (wr.opcode == IBV_WC_SEND || wr.opcode == IBV_WC_RDMA_WRITE) &&
	    wr.length <= MOST_SUMMED)
		wr.sum = sum_of(&wr);
	error = push(&qp->sends, &wr, "ibv_post_send");
	if (error)
		return error;
	go(qp, &wr, fault);
	return 0;
}

static void note_chain(unsigned int length)
{
	if (length > fake_report->longest)
		fake_report->longest = length;
}

int fake_refusal_of(const struct fake_fault *fault, bool is_last)
{
	return fault->at_last && !is_last ? 0 : fault->error;
}

int fake_post_send(struct ibv_qp *pub, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_fault fault = fake_begin("ibv_post_send");
	struct fake_qp *qp = fake_of(struct fake_qp, pub);
	const struct ibv_send_wr *one;
	unsigned int n = 0;
	int error = 0;

	fake_check_alarm("ibv_post_send");
	for (one = wr; one; one = one->next)
		n++;
	note_chain(n);
	for (; wr && !error; wr = wr->next) {
		*bad = wr;
		error = fake_refusal_of(&fault, !wr->next);
		if (error || !fake_use(&qp->object, "ibv_post_send"))
			continue;
		if (wr->opcode != IBV_WR_SEND && (!wr->num_sge || !wr->sg_list[0].length))
			error = post_empty(qp, wr, &fault);
		else
			error = post_send(qp, wr, &fault);
	}
	return fake_end(error);
}

int fake_take_recv(struct fake_queue *queue, const struct fake_pd *pd,
		   const struct ibv_recv_wr *recv_wr, const struct fake_fault *fault,
		   uint32_t most_pieces, const char *call)
{
	struct fake_wr wr = { .wr_id = recv_wr->wr_id };

	if (!fault->error) /* otherwise it is another receive's */
		wr.fault = *fault;
	if (!take_pieces(&wr, recv_wr->sg_list, recv_wr->num_sge, most_pieces, call))
		return EINVAL;
	check_posted_once(queue, &wr, call);
	find_mrs(pd, &wr, call);
	if (wr.mr && !(wr.mr->access & IBV_ACCESS_LOCAL_WRITE))
		fake_complain("%s: memory that the device may not write to", call);
	return push(queue, &wr, call);
}

static int post_recv(struct fake_qp *qp, const struct ibv_recv_wr *recv_wr,
		     const struct fake_fault *fault)
{
	struct fake_fault its = *fault;
	int error;

	if (qp->srq) {
		fake_complain("ibv_post_recv: QP %u has its receives in an SRQ", qp->object.number);
		return EINVAL;
	}
	if (fault->peer_has_left && qp->id->state == FAKE_CONNECTED) {
		strike(qp->id->peer);
		fake_leave(qp->id->peer);
	}
	check_lines(&qp->receives, recv_wr->sg_list, "ibv_post_recv");
	check_lines(&qp->sends, recv_wr->sg_list, "ibv_post_recv");
	if (fault->peer_has_left)
		memset(&its, 0, sizeof(its));
	error = fake_take_recv(&qp->receives, qp->pd, recv_wr, &its, qp->recv_sge, "ibv_post_recv");
	if (!error && qp->pub.state == IBV_QPS_ERR)
		fake_flush(qp);
	fake_retry_messages(qp);
	return error;
}

int fake_post_recv(struct ibv_qp *pub, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_fault fault = fake_begin("ibv_post_recv");
	struct fake_qp *qp = fake_of(struct fake_qp, pub);
	const struct ibv_recv_wr *one;
	unsigned int n = 0;
	int error = 0;

	for (one = wr; one; one = one->next)
		n++;
	note_chain(n);
	for (; wr && !error; wr = wr->next) {
		*bad = wr;
		error = fake_refusal_of(&fault, !wr->next);
		if (!error && fake_use(&qp->object, "ibv_post_recv"))
			error = post_recv(qp, wr, &fault);
	}
	return fake_end(error);
}

/* A message arrives at a receive that has to fail. */
static void fail_receive(struct fake_qp *qp, const struct fake_fault *fault)
{
	struct fake_queue *queue = fake_receives_of(qp);

	/* With an SRQ, another peer's message may arrive at this receive next. */
	memset(&queue->wr[queue->first].fault, 0, sizeof(*fault));
	if (fault->device_leaves) {
		fake_device_leaves(qp->id);
		return;
	}
	if (!fault->peer_leaves) {
		fake_complete_wr(qp, queue,
				 fault->wc_status ? fault->wc_status : IBV_WC_LOC_LEN_ERR, 0);
		fake_flush(qp);
	}
	peer_notices(qp, fault);
}

/* The peer may leave after its last message. */
static void leave_after(struct fake_peer *peer)
{
	if (peer->count == (peer->is_client ? peer->sent : peer->received))
		return;
	fake_strikes();
	fake_put_leave(peer);
}

/* The status of the first receive in the queue, at which a message has arrived. */
static struct fake_fault fault_of(struct fake_qp *qp, const struct fake_wr *wr)
{
	struct fake_fault fault = wr->fault;

	if (fault.leaves_after) {
		leave_after(qp->id->peer);
		fault.name = NULL;
	}
	if (fault.name)
		fake_strikes();
	/* This was the last message of either side: a client leaves, and the program sees that. */
	if (fault.name && fake_config->talks && qp->id->peer->done && qp->id->peer->is_client)
		fake_report->last_word = true;
	return fault;
}

bool fake_receive(struct fake_qp *qp, const uint8_t *data, uint32_t length)
{
	struct fake_queue *queue = fake_receives_of(qp);
	const struct fake_wr *wr = &queue->wr[queue->first];
	struct fake_fault fault;

	if (!queue->n)
		return false;
	fault = fault_of(qp, wr);
	if (length > wr->length || (fault.name && !fault.cut)) {
		fail_receive(qp, &fault);
		return true;
	}
	length -= fault.cut;
	fake_scatter(wr, data, length);
	fake_complete_wr(qp, queue, IBV_WC_SUCCESS, length);
	return true;
}

/*
 * A wrong length is one of the WRITE, not of the receive: the completion shows it, and nothing else
 * happens.
 */
bool fake_receive_immediate(struct fake_qp *qp, uint32_t immediate, uint32_t length)
{
	struct fake_queue *queue = fake_receives_of(qp);
	struct fake_wr *wr = &queue->wr[queue->first];
	struct fake_fault fault;

	if (!queue->n)
		return false;
	fault = fault_of(qp, wr);
	if (fault.name && !fault.cut) {
		fail_receive(qp, &fault);
		return true;
	}
	wr->has_immediate = true;
	wr->immediate = immediate;
	fake_complete_wr(qp, queue, IBV_WC_SUCCESS, length - fault.cut);
	return true;
}
