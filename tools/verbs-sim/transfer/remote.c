/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * WRITE, READ and atomic operations: access to the memory of the peer, and its checks.
 * See transfer.h.
 */
#include <errno.h>
#include <string.h>

#include "verbs-sim/core/schedule.h"
#include "verbs-sim/transfer/transfer.h"

#define CACHE_LINE  64
#define MOST_PIECES 8

static int access_of(const struct sim_request *request)
{
	if (sim_is_atomic(request->opcode))
		return IBV_ACCESS_REMOTE_ATOMIC;
	return request->opcode == IBV_WR_RDMA_READ ? IBV_ACCESS_REMOTE_READ
						   : IBV_ACCESS_REMOTE_WRITE;
}

/* soft-iWARP allows a READ of any region, without the right for it. */
static bool is_allowed(const struct sim_qp *peer, const struct sim_request *request,
		       uint64_t *address)
{
	int access = access_of(request);
	const struct sim_mr *mr;

	if (sim_is_iwarp(peer) && access == IBV_ACCESS_REMOTE_READ)
		access = 0;
	if (!request->length) {
		*address = 0;
		return true;
	}
	*address = request->remote_addr;
	mr = sim_find_remote(peer, request->rkey, address, request->length, access);
	if (!mr)
		return false;
	*address += mr->region.address - mr->region.iova;
	return true;
}

/* Returns true if the QP is closed to the operation. soft-iWARP looks only at regions. */
static bool is_closed(const struct sim_qp *peer, const struct sim_request *request)
{
	if (sim_qp_traits(peer)->closes_reads && sim_brings_data(request) &&
	    !peer->attr.max_dest_rd_atomic)
		return true;
	return !sim_is_iwarp(peer) && !((int)peer->attr.qp_access_flags & access_of(request));
}

static int operate(const struct sim_program *program, uint64_t address,
		   const struct sim_request *request, uint8_t *before)
{
	uint64_t value;

	if (address % sizeof(value))
		return EINVAL;
	if (sim_read_memory(program, address, &value, sizeof(value)))
		return EFAULT;
	memcpy(before, &value, sizeof(value));
	if (request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		value += request->compare_add;
	else if (value == request->compare_add)
		value = request->swap;
	return sim_write_memory(program, address, &value, sizeof(value));
}

/* ---- Pieces ---- */

static bool is_whole(enum ibv_wr_opcode opcode)
{
	return sim_is_atomic(opcode) || opcode == IBV_WR_ATOMIC_WRITE;
}

/* Half of all WRITEs and READs move in pieces, which are whole cache lines. Any piece may be the first. */
static void divide(struct sim_request *request)
{
	uint32_t part = request->length / MOST_PIECES;
	bool whole = !request->length || is_whole(request->opcode) || sim_random(2);

	request->piece = whole ? request->length + 1 : (part / CACHE_LINE + 1) * CACHE_LINE;
	request->n_pieces = whole ? 1 : (request->length + request->piece - 1) / request->piece;
	request->first_piece = sim_random(request->n_pieces);
	if (sim_brings_data(request))
		request->data = sim_alloc(request->length + 1);
}

/* Returns the next piece in a circle, or any that has not moved. */
static uint32_t next_piece(const struct sim_qp *peer, const struct sim_request *request)
{
	uint32_t number = (request->first_piece + request->pieces_moved) % request->n_pieces;
	uint32_t skip;

	if (!sim_qp_traits(peer)->any_order)
		return number;
	skip = sim_random(request->n_pieces - request->pieces_moved);
	for (number = 0; request->moved >> number & 1 || skip--; number++)
		;
	return number;
}

static int move_piece(const struct sim_qp *peer, uint64_t address, struct sim_request *request)
{
	const struct sim_program *program = peer->object.program;
	uint32_t number = next_piece(peer, request);
	uint32_t at = number * request->piece, rest = request->length - at;
	uint32_t length = rest < request->piece ? rest : request->piece;

	request->moved |= 1u << number;
	if (sim_brings_data(request))
		return sim_read_memory(program, address + at, request->data + at, length);
	return sim_write_memory(program, address + at, request->data + at, length);
}

int sim_access(struct sim_qp *peer, struct sim_request *request)
{
	const struct sim_program *program = peer->object.program;
	uint64_t address;
	int ret;

	if (request->n_pieces && request->pieces_moved == request->n_pieces)
		return 0;
	if (is_closed(peer, request))
		return EOPNOTSUPP;
	if (!is_allowed(peer, request, &address))
		return EACCES;
	if (!request->n_pieces) {
		divide(request);
		if (request->length && !sim_brings_data(request))
			sim_receive(program, request->data, request->length, SIM_FIXED);
	}
	ret = sim_is_atomic(request->opcode) ? operate(program, address, request, request->data)
					     : move_piece(peer, address, request);
	sim_wake(program, sim_memory);
	if (!ret && ++request->pieces_moved < request->n_pieces)
		return EAGAIN;
	return ret;
}

int sim_ask(const struct sim_qp *qp, struct sim_qp *peer, struct sim_request *request)
{
	uint64_t address;

	if (is_closed(peer, request))
		return EOPNOTSUPP;
	if (qp->n_reads >= peer->attr.max_dest_rd_atomic)
		return EDQUOT;
	if (!is_allowed(peer, request, &address))
		return EACCES;
	return sim_is_atomic(request->opcode) ? sim_access(peer, request) : 0;
}

static bool has_moved_last_byte(const struct sim_request *request)
{
	return request->n_pieces && request->moved >> (request->n_pieces - 1) & 1;
}

/* Pieces move in any order, but a key is checked in the order of the packets. */
void sim_finish_access(const struct sim_program *program)
{
	const struct sim_object *object;
	struct sim_request *request;
	struct sim_qp *peer;

	SIM_EACH(object, SIM_QP)
	{
		request = TAILQ_FIRST(&((const struct sim_qp *)object)->wire);
		peer = sim_peer_of((const struct sim_qp *)object);
		if (!request || !peer || peer->object.program != program ||
		    !has_moved_last_byte(request))
			continue;
		while (sim_access(peer, request) == EAGAIN)
			;
	}
}
