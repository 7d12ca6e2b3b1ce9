/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Requests that end without a peer: datagrams, and operations on memory windows. See transfer.h.
 */
#include "verbs-sim/transfer/transfer.h"

bool sim_knows(const struct sim_qp *qp, enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return true;
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_BIND_MW:
		return qp->type != IBV_QPT_UD;
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case IBV_WR_LOCAL_INV:
		return qp->type == IBV_QPT_RC;
	case IBV_WR_ATOMIC_WRITE:
		return qp->type == IBV_QPT_RC && sim_qp_traits(qp)->atomic_write;
	default:
		return false;
	}
}

bool sim_execute_alone(struct sim_qp *qp, const struct sim_request *request,
		       enum ibv_wc_status *status)
{
	const struct sim_traits *traits = sim_qp_traits(qp);

	*status = IBV_WC_SUCCESS;
	if (request->opcode == IBV_WR_BIND_MW || request->opcode == IBV_WR_LOCAL_INV)
		sim_finish_access(qp->object.program);
	if (qp->type == IBV_QPT_UD)
		sim_send_datagram(qp, request);
	else if (request->opcode == IBV_WR_BIND_MW && sim_bind_mw(qp, request))
		*status = traits->bad_bind;
	else if (request->opcode == IBV_WR_LOCAL_INV && sim_invalidate(qp, request->rkey))
		*status = traits->bad_local_key;
	else
		return request->opcode == IBV_WR_BIND_MW || request->opcode == IBV_WR_LOCAL_INV;
	return true;
}
