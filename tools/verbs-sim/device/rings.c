/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Queues that soft-RoCE shares with its library. See rings.h.
 *
 * The side that puts an entry in then stores the producer's index, the side that takes one out
 * stores the consumer's; both count modulo the number of slots, and one slot stays free.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h> /* must come before linux/in.h, which the next but one includes */
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <string.h>
#include <unistd.h>

#include "verbs-sim/device/device.h"

/* ---- The ring itself ---- */

int sim_create_ring(struct sim_ring *ring, uint32_t entries, size_t bytes)
{
	uintptr_t page = (uintptr_t)getpagesize();
	uint32_t slots = 1, log2_bytes = 6;
	size_t size;

	while (slots < entries + 1)
		slots *= 2;
	while (1u << log2_bytes < bytes)
		log2_bytes++;
	size = sizeof(*ring->shared) + ((size_t)slots << log2_bytes);
	if (!sim_has_memory(size + 2 * page))
		return ENOMEM;
	ring->memory = sim_alloc(size + 2 * page);
	ring->shared = (void *)(((uintptr_t)ring->memory + page - 1) / page * page);
	ring->shared->log2_elem_size = log2_bytes;
	ring->shared->index_mask = slots - 1;
	ring->seen = 0;
	return 0;
}

void sim_destroy_ring(struct sim_ring *ring)
{
	sim_free(ring->memory);
	*ring = (struct sim_ring){ .shared = NULL };
}

uint64_t sim_offset_of(const struct sim_ring *ring)
{
	return (ring->entries ? (uintptr_t)ring->entries : (uintptr_t)ring->shared) -
	       SIM_WORLD_ADDRESS;
}

uint32_t sim_bytes_of(const struct sim_ring *ring)
{
	const struct rxe_queue_buf *shared = ring->shared;

	return (uint32_t)(sizeof(*shared) +
			  ((size_t)(shared->index_mask + 1) << shared->log2_elem_size));
}

void sim_hold_ring(struct sim_ring *ring, uint32_t entries)
{
	ring->held = ring->shared->index_mask - entries;
	sim_reset_ring(ring);
}

uint32_t sim_slots_of(const struct sim_ring *ring)
{
	return ring->entries ? ring->slots : ring->shared->index_mask - ring->held;
}

uint32_t sim_filled(const struct sim_ring *ring)
{
	const struct rxe_queue_buf *shared = ring->shared;

	if (ring->entries)
		return sim_siw_filled(ring);
	return (__atomic_load_n(&shared->producer_index, __ATOMIC_ACQUIRE) -
		__atomic_load_n(&shared->consumer_index, __ATOMIC_ACQUIRE)) &
	       shared->index_mask;
}

static uint32_t next(const struct sim_ring *ring, uint32_t index)
{
	return (index + 1) & ring->shared->index_mask;
}

static void *entry(const struct sim_ring *ring, uint32_t index)
{
	const struct rxe_queue_buf *shared = ring->shared;

	return ring->shared->data +
	       ((size_t)(index & shared->index_mask) << shared->log2_elem_size);
}

void sim_release_entry(struct sim_ring *ring)
{
	if (ring->entries)
		sim_siw_release(ring);
	else if (ring->shared)
		__atomic_store_n(&ring->shared->consumer_index,
				 next(ring, ring->shared->consumer_index), __ATOMIC_RELEASE);
}

int sim_resize_ring(struct sim_ring *ring, uint32_t entries)
{
	const struct rxe_queue_buf *from = ring->shared;
	size_t bytes = (size_t)1 << from->log2_elem_size;
	struct sim_ring old = *ring;
	uint32_t i;

	if (sim_create_ring(ring, entries, bytes))
		return ENOMEM;
	for (i = from->consumer_index; i != from->producer_index; i = next(&old, i))
		memcpy(entry(ring, ring->shared->producer_index++), entry(&old, i), bytes);
	ring->seen = (old.seen - from->consumer_index) & from->index_mask;
	sim_destroy_ring(&old);
	return 0;
}

void sim_reset_ring(struct sim_ring *ring)
{
	if (!ring->shared)
		return;
	ring->shared->producer_index = ring->seen = 0;
	ring->shared->consumer_index = -ring->held & ring->shared->index_mask;
}

/* Returns the next entry that the library has put in and the device has not read, or NULL. */
static const void *read_entry(struct sim_ring *ring)
{
	const void *found;

	if (!ring->shared ||
	    ring->seen == __atomic_load_n(&ring->shared->producer_index, __ATOMIC_ACQUIRE))
		return NULL;
	found = entry(ring, ring->seen);
	ring->seen = next(ring, ring->seen);
	return found;
}

/* ---- Completions ---- */

size_t sim_bytes_of_completion(void)
{
	return sizeof(struct ib_uverbs_wc);
}

void sim_put_completion(struct sim_ring *ring, const struct ibv_wc *wc)
{
	struct ib_uverbs_wc entry_of_ring = {
		.wr_id = wc->wr_id,
		.status = wc->status,
		.opcode = wc->opcode,
		.vendor_err = wc->vendor_err,
		.byte_len = wc->byte_len,
		.ex.imm_data = wc->imm_data,
		.qp_num = wc->qp_num,
		.src_qp = wc->src_qp,
		.wc_flags = wc->wc_flags,
		.pkey_index = wc->pkey_index,
		.slid = wc->slid,
		.sl = wc->sl,
		.dlid_path_bits = wc->dlid_path_bits,
	};

	if (ring->entries) {
		sim_siw_put_completion(ring, wc);
		return;
	}
	memcpy(entry(ring, ring->shared->producer_index), &entry_of_ring, sizeof(entry_of_ring));
	__atomic_store_n(&ring->shared->producer_index, next(ring, ring->shared->producer_index),
			 __ATOMIC_RELEASE);
}

uint32_t sim_drop_completions(struct sim_ring *ring, uint32_t qp_num)
{
	struct rxe_queue_buf *shared = ring->shared;
	const struct ib_uverbs_wc *wc;
	uint32_t i, end, recvs = 0;

	if (ring->entries) {
		sim_siw_drop_completions(ring, qp_num);
		return 0;
	}
	end = shared->producer_index;
	shared->producer_index = shared->consumer_index;
	for (i = shared->consumer_index; i != end; i = next(ring, i)) {
		wc = entry(ring, i);
		if (wc->qp_num == qp_num) {
			recvs += wc->opcode >= IBV_WC_RECV;
			continue;
		}
		memmove(entry(ring, shared->producer_index), wc, sizeof(*wc));
		shared->producer_index = next(ring, shared->producer_index);
	}
	return recvs;
}

void sim_watch_taken(struct sim_ring *ring)
{
	if (ring->shared)
		ring->seen = ring->shared->consumer_index;
}

bool sim_read_taken(struct sim_ring *ring, struct ibv_wc *wc)
{
	const struct ib_uverbs_wc *taken;

	if (ring->entries)
		return sim_siw_read_taken(ring, wc);
	if (ring->seen == ring->shared->consumer_index)
		return false;
	taken = entry(ring, ring->seen);
	*wc = (struct ibv_wc){ .wr_id = taken->wr_id,
			       .status = (enum ibv_wc_status)taken->status,
			       .opcode = (enum ibv_wc_opcode)taken->opcode,
			       .qp_num = taken->qp_num };
	ring->seen = next(ring, ring->seen);
	return true;
}

/* ---- Sends ---- */

size_t sim_bytes_of_send(uint32_t max_sge, uint32_t max_inline)
{
	size_t sges = max_sge * sizeof(struct rxe_sge);

	return sizeof(struct rxe_send_wqe) + (sges > max_inline ? sges : max_inline);
}

static const struct sim_ah *find_ah(const struct sim_program *program, uint32_t number)
{
	const struct sim_ah *ah = sim_find(SIM_AH, number);

	return ah && ah->object.program == program ? ah : NULL;
}

/* Sets the destination of a request. An AH that is gone leads nowhere. */
static void fill_target(const struct sim_qp *qp, struct sim_request *request,
			const struct rxe_send_wr *wr)
{
	const struct sim_ah *ah;

	if (qp->type == IBV_QPT_UD) {
		ah = find_ah(qp->object.program, wr->wr.ud.ah_num);
		if (ah) {
			request->to.path = ah->path;
			request->to.qp_num = wr->wr.ud.remote_qpn;
		}
		request->to.qkey = wr->wr.ud.remote_qkey;
	} else if (sim_is_atomic(request->opcode)) {
		request->remote_addr = wr->wr.atomic.remote_addr;
		request->rkey = wr->wr.atomic.rkey;
		request->compare_add = wr->wr.atomic.compare_add;
		request->swap = wr->wr.atomic.swap;
	} else if (request->opcode == IBV_WR_BIND_MW) {
		request->rkey = wr->wr.mw.mw_rkey;
		request->binding = (struct sim_binding){ wr->wr.mw.addr, wr->wr.mw.length,
							 wr->wr.mw.mr_lkey, wr->wr.mw.rkey,
							 (int)wr->wr.mw.access };
	} else if (request->opcode == IBV_WR_LOCAL_INV || request->opcode == IBV_WR_SEND_WITH_INV) {
		request->rkey = wr->ex.invalidate_rkey;
	} else {
		request->remote_addr = wr->wr.rdma.remote_addr;
		request->rkey = wr->wr.rdma.rkey;
	}
}

struct sim_request *sim_read_send(struct sim_qp *qp)
{
	const struct rxe_send_wqe *wqe = qp->ring.entries ? NULL : read_entry(&qp->ring);
	bool is_inline = wqe && wqe->wr.send_flags & IBV_SEND_INLINE;
	struct sim_request *request;
	size_t sges;

	if (qp->ring.entries)
		return sim_siw_read_send(&qp->ring);
	if (!wqe)
		return NULL;
	sges = is_inline ? 0 : wqe->dma.num_sge * sizeof(struct ibv_sge);
	request = sim_alloc(sizeof(*request) + sges);
	request->wr_id = wqe->wr.wr_id;
	request->opcode = (enum ibv_wr_opcode)wqe->wr.opcode;
	request->flags = wqe->wr.send_flags;
	request->imm = wqe->wr.ex.imm_data;
	request->length = wqe->dma.length;
	fill_target(qp, request, &wqe->wr);
	if (is_inline || request->opcode == IBV_WR_ATOMIC_WRITE) {
		request->data = sim_alloc(request->length + 1);
		memcpy(request->data, wqe->dma.inline_data, request->length);
	} else {
		request->num_sge = (int)wqe->dma.num_sge;
		memcpy(request->sge, wqe->dma.sge, sges);
	}
	return request;
}

/* ---- Receives ---- */

size_t sim_bytes_of_recv(uint32_t max_sge)
{
	return sizeof(struct rxe_recv_wqe) + max_sge * sizeof(struct rxe_sge);
}

struct sim_recv *sim_read_recv(struct sim_ring *ring)
{
	const struct rxe_recv_wqe *wqe = ring->entries ? NULL : read_entry(ring);
	struct sim_recv *recv;
	size_t sges;

	if (ring->entries)
		return sim_siw_read_recv(ring);
	if (!wqe)
		return NULL;
	sges = wqe->dma.num_sge * sizeof(struct ibv_sge);
	recv = sim_alloc(sizeof(*recv) + sges);
	recv->wr_id = wqe->wr_id;
	recv->num_sge = (int)wqe->dma.num_sge;
	memcpy(recv->sge, wqe->dma.sge, sges);
	return recv;
}
