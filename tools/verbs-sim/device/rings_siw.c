/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Queues that soft-iWARP shares with its library, as rdma/siw-abi.h says. See rings.h.
 *
 * There are no indices: the reader owns an entry while it is VALID. After the entries of a CQ is a
 * word by which the library arms the CQ.
 */
#include <errno.h>
#include <rdma/siw-abi.h>
#include <string.h>
#include <unistd.h>

#include "verbs-sim/device/device.h"

int sim_create_siw_ring(struct sim_ring *ring, enum sim_siw_entry kind, uint32_t entries)
{
	static const size_t bytes[] = { sizeof(struct siw_cqe), sizeof(struct siw_sqe),
					sizeof(struct siw_rqe) };
	uintptr_t page = (uintptr_t)getpagesize();
	uint32_t slots = 1;
	size_t size;

	while (slots < entries)
		slots *= 2;
	ring->bytes = bytes[kind];
	size = slots * ring->bytes + sizeof(struct siw_cq_ctrl) + 2 * page;
	if (!sim_has_memory(size))
		return ENOMEM;
	ring->memory = sim_alloc(size);
	ring->entries = (void *)(((uintptr_t)ring->memory + page - 1) / page * page);
	ring->slots = slots;
	ring->seen = ring->done = 0;
	return 0;
}

static struct siw_cqe *completion_at(const struct sim_ring *ring, uint32_t index)
{
	return (struct siw_cqe *)ring->entries + index % ring->slots;
}

/* ---- Completions ---- */

uint32_t sim_siw_filled(const struct sim_ring *ring)
{
	uint32_t n = 0;

	while (n < ring->slots && completion_at(ring, ring->seen - n - 1)->flags & SIW_WQE_VALID)
		n++;
	return n;
}

void sim_siw_drop_completions(struct sim_ring *ring, uint32_t qp_num)
{
	uint32_t end = ring->seen, i = end - sim_siw_filled(ring);
	struct siw_cqe *cqe;

	for (ring->seen = i; i != end; i++) {
		cqe = completion_at(ring, i);
		if (cqe->qp_id != qp_num)
			*completion_at(ring, ring->seen++) = *cqe;
	}
	for (i = ring->seen; i != end; i++)
		completion_at(ring, i)->flags = 0;
}

static const uint8_t opcodes[] = {
	[IBV_WC_SEND] = SIW_OP_SEND,
	[IBV_WC_RDMA_WRITE] = SIW_OP_WRITE,
	[IBV_WC_RDMA_READ] = SIW_OP_READ,
};
static const uint16_t statuses[] = {
	[IBV_WC_LOC_LEN_ERR] = SIW_WC_LOC_LEN_ERR,
	[IBV_WC_LOC_QP_OP_ERR] = SIW_WC_LOC_QP_OP_ERR,
	[IBV_WC_LOC_PROT_ERR] = SIW_WC_LOC_PROT_ERR,
	[IBV_WC_WR_FLUSH_ERR] = SIW_WC_WR_FLUSH_ERR,
	[IBV_WC_BAD_RESP_ERR] = SIW_WC_BAD_RESP_ERR,
	[IBV_WC_LOC_ACCESS_ERR] = SIW_WC_LOC_ACCESS_ERR,
	[IBV_WC_REM_INV_REQ_ERR] = SIW_WC_REM_INV_REQ_ERR,
	[IBV_WC_REM_ACCESS_ERR] = SIW_WC_REM_ACCESS_ERR,
	[IBV_WC_GENERAL_ERR] = SIW_WC_GENERAL_ERR,
};

void sim_siw_put_completion(struct sim_ring *ring, const struct ibv_wc *wc)
{
	struct siw_cqe *cqe = completion_at(ring, ring->seen++);

	cqe->id = wc->wr_id;
	cqe->opcode = wc->opcode == IBV_WC_RECV ? SIW_OP_RECEIVE : opcodes[wc->opcode];
	cqe->status = wc->status < sizeof(statuses) / sizeof(statuses[0]) ? statuses[wc->status]
									  : SIW_WC_GENERAL_ERR;
	if (wc->status && !cqe->status)
		cqe->status = SIW_WC_GENERAL_ERR;
	cqe->bytes = wc->byte_len;
	cqe->qp_id = wc->qp_num;
	cqe->inval_stag = wc->invalidated_rkey;
	__atomic_store_n(&cqe->flags,
			 SIW_WQE_VALID | (wc->wc_flags & IBV_WC_WITH_INV ? SIW_WQE_REM_INVAL : 0),
			 __ATOMIC_RELEASE);
}

/* Returns the place of a code of the driver in the table of statuses; 0 for the code 0. */
static int find_status(uint16_t said)
{
	int code = (int)(sizeof(statuses) / sizeof(statuses[0]));

	while (code-- && statuses[code] != said)
		;
	return said ? code : 0;
}

bool sim_siw_read_taken(struct sim_ring *ring, struct ibv_wc *wc)
{
	const struct siw_cqe *cqe = completion_at(ring, ring->done);

	if (ring->done == ring->seen || cqe->flags & SIW_WQE_VALID)
		return false;
	ring->done++;
	*wc = (struct ibv_wc){ .wr_id = cqe->id,
			       .status = (enum ibv_wc_status)find_status(cqe->status),
			       .qp_num = (uint32_t)cqe->qp_id };
	wc->opcode = cqe->opcode == SIW_OP_RECEIVE ? IBV_WC_RECV
		     : cqe->opcode == SIW_OP_WRITE ? IBV_WC_RDMA_WRITE
		     : cqe->opcode == SIW_OP_READ  ? IBV_WC_RDMA_READ
						   : IBV_WC_SEND;
	return true;
}

static struct siw_cq_ctrl *control(const struct sim_ring *ring)
{
	return (struct siw_cq_ctrl *)((struct siw_cqe *)ring->entries + ring->slots);
}

bool sim_siw_is_armed(const struct sim_ring *ring, bool *solicited_only)
{
	uint32_t flags = control(ring)->flags;

	*solicited_only = !(flags & SIW_NOTIFY_NEXT_COMPLETION);
	return flags & (SIW_NOTIFY_NEXT_COMPLETION | SIW_NOTIFY_SOLICITED);
}

void sim_siw_disarm(struct sim_ring *ring)
{
	control(ring)->flags = SIW_NOTIFY_NOT;
}

/* ---- Work requests: sends and receives have their flags at the same place ---- */

void sim_siw_release(struct sim_ring *ring)
{
	size_t place = ring->done++ % ring->slots * ring->bytes;
	struct siw_sqe *entry = (void *)((char *)ring->entries + place);

	__atomic_store_n(&entry->flags, 0, __ATOMIC_RELEASE);
}

struct sim_request *sim_siw_read_send(struct sim_ring *ring)
{
	static const enum ibv_wr_opcode of_request[] = {
		[SIW_OP_WRITE] = IBV_WR_RDMA_WRITE,
		[SIW_OP_READ] = IBV_WR_RDMA_READ,
		[SIW_OP_READ_LOCAL_INV] = IBV_WR_RDMA_READ,
		[SIW_OP_SEND] = IBV_WR_SEND,
		[SIW_OP_SEND_REMOTE_INV] = IBV_WR_SEND_WITH_INV,
	};
	const struct siw_sqe *sqe = (struct siw_sqe *)ring->entries + ring->seen % ring->slots;
	bool is_inline = sqe->flags & SIW_WQE_INLINE;
	struct sim_request *request;
	int i;

	if (ring->seen - ring->done == ring->slots || !(sqe->flags & SIW_WQE_VALID))
		return NULL;
	ring->seen++;
	request = sim_alloc(sizeof(*request) + sqe->num_sge * sizeof(struct ibv_sge));
	request->wr_id = sqe->id;
	request->opcode = of_request[sqe->opcode];
	request->flags = (sqe->flags & SIW_WQE_SIGNALLED ? IBV_SEND_SIGNALED : 0) |
			 (sqe->flags & SIW_WQE_SOLICITED ? IBV_SEND_SOLICITED : 0) |
			 (is_inline ? IBV_SEND_INLINE : 0);
	request->remote_addr = sqe->raddr;
	request->rkey = sqe->rkey;
	if (is_inline) {
		request->length = sqe->sge[0].length;
		request->data = sim_alloc(request->length + 1);
		memcpy(request->data, &sqe->sge[1], request->length);
		return request;
	}
	request->num_sge = sqe->num_sge;
	memcpy(request->sge, sqe->sge, sqe->num_sge * sizeof(struct ibv_sge));
	for (i = 0; i < sqe->num_sge; i++)
		request->length += sqe->sge[i].length;
	return request;
}

struct sim_recv *sim_siw_read_recv(struct sim_ring *ring)
{
	const struct siw_rqe *rqe = (struct siw_rqe *)ring->entries + ring->seen % ring->slots;
	size_t sges = rqe->num_sge * sizeof(struct ibv_sge);
	struct sim_recv *posted;

	if (ring->seen - ring->done == ring->slots || !(rqe->flags & SIW_WQE_VALID))
		return NULL;
	ring->seen++;
	posted = sim_alloc(sizeof(*posted) + sges);
	posted->wr_id = rqe->id;
	posted->num_sge = rqe->num_sge;
	memcpy(posted->sge, rqe->sge, sges);
	return posted;
}
