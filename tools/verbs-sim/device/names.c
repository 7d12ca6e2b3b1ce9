/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The names of completions and events, without their common prefixes: the runner has no library
 * that knows them. See device.h.
 */
#include "verbs-sim/device/device.h"

#define NAME_OF(names, value) \
	((size_t)(value) < sizeof(names) / sizeof((names)[0]) ? (names)[value] : "unknown")

const char *sim_status_name(enum ibv_wc_status status)
{
	static const char *const names[] = {
		"SUCCESS",          "LOC_LEN_ERR",       "LOC_QP_OP_ERR",     "LOC_EEC_OP_ERR",
		"LOC_PROT_ERR",     "WR_FLUSH_ERR",      "MW_BIND_ERR",       "BAD_RESP_ERR",
		"LOC_ACCESS_ERR",   "REM_INV_REQ_ERR",   "REM_ACCESS_ERR",    "REM_OP_ERR",
		"RETRY_EXC_ERR",    "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR",  "REM_INV_RD_REQ_ERR",
		"REM_ABORT_ERR",    "INV_EECN_ERR",      "INV_EEC_STATE_ERR", "FATAL_ERR",
		"RESP_TIMEOUT_ERR", "GENERAL_ERR"
	};

	return NAME_OF(names, status);
}

const char *sim_async_name(enum ibv_event_type type)
{
	static const char *const names[] = { "CQ_ERR",
					     "QP_FATAL",
					     "QP_REQ_ERR",
					     "QP_ACCESS_ERR",
					     "COMM_EST",
					     "SQ_DRAINED",
					     "PATH_MIG",
					     "PATH_MIG_ERR",
					     "DEVICE_FATAL",
					     "PORT_ACTIVE",
					     "PORT_ERR",
					     "LID_CHANGE",
					     "PKEY_CHANGE",
					     "SM_CHANGE",
					     "SRQ_ERR",
					     "SRQ_LIMIT_REACHED",
					     "QP_LAST_WQE_REACHED",
					     "CLIENT_REREGISTER",
					     "GID_CHANGE",
					     "WQ_FATAL" };

	return NAME_OF(names, type);
}

const char *sim_cm_event_name(int type)
{
	static const char *const names[] = {
		"ADDR_RESOLVED",   "ADDR_ERROR",       "ROUTE_RESOLVED", "ROUTE_ERROR",
		"CONNECT_REQUEST", "CONNECT_RESPONSE", "CONNECT_ERROR",  "UNREACHABLE",
		"REJECTED",        "ESTABLISHED",      "DISCONNECTED",   "DEVICE_REMOVAL",
		"MULTICAST_JOIN",  "MULTICAST_ERROR",  "ADDR_CHANGE",    "TIMEWAIT_EXIT"
	};

	return NAME_OF(names, type);
}

const char *sim_opcode_name(enum ibv_wc_opcode opcode)
{
	switch (opcode) {
	case IBV_WC_SEND:
		return "SEND";
	case IBV_WC_RDMA_WRITE:
		return "RDMA_WRITE";
	case IBV_WC_RDMA_READ:
		return "RDMA_READ";
	case IBV_WC_RECV:
		return "RECV";
	case IBV_WC_RECV_RDMA_WITH_IMM:
		return "RECV_RDMA_WITH_IMM";
	case IBV_WC_BIND_MW:
		return "BIND_MW";
	case IBV_WC_LOCAL_INV:
		return "LOCAL_INV";
	default:
		return "atomic";
	}
}
