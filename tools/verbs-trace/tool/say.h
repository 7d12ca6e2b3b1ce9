/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: writes arguments and results. calls.txt names these functions. Each
 * writes one item of a line, called `name`, and accepts NULL.
 */
#ifndef VERBS_TRACE_TOOL_SAY_H
#define VERBS_TRACE_TOOL_SAY_H

#include <poll.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "structures.h"
#include "verbs-trace/tool/call.h"

/* say.c */
void say_pointer(struct out *out, const char *name, const void *pointer);
void say_new(struct call *call, const char *name, enum kind kind, const void *pointer);
/* Writes the result: the object that this call has created, and, only here, its pointer. */
void say_made(struct call *call, enum kind kind, const void *pointer);
void say_object(struct out *out, const char *name, const void *pointer, enum kind kind);
/* For example "send_cq cq1". */
void say_labelled(struct out *out, const char *name, const void *pointer, enum kind kind);
void say_int(struct out *out, const char *name, const int *value);
void say_hex(struct out *out, const char *name, uint64_t value);
void say_bytes(struct out *out, const char *name, const void *data, size_t length);
void say_gid(struct out *out, const char *name, const union ibv_gid *gid);
void say_address(struct out *out, const char *name, const struct sockaddr *address);
void say_immediate(struct out *out, const char *name, __be32 value);
void say_private_data(struct out *out, const char *name, const void *data, size_t length);
/* Shows the private data of the connect request, of an id that rdma_get_request has returned. */
void say_request(struct out *out, const struct rdma_cm_id *id);
void say_pollfds(struct out *out, const char *name, const struct pollfd *fds, nfds_t n);

/* say_verbs.c */
void say_device(struct out *out, const char *name, struct ibv_device *device);
void say_device_attr_ex(struct out *out, const char *name, const struct ibv_device_attr_ex *attr);
void say_async_event(struct out *out, const char *name, const struct ibv_async_event *event);
void say_qp_init_attr(struct out *out, const char *name, const struct ibv_qp_init_attr *attr);
void say_srq_init_attr(struct out *out, const char *name, const struct ibv_srq_init_attr *attr);
void say_cq_of_event(struct out *out, const char *name, struct ibv_cq *const *cq);
void say_sges(struct out *out, const char *name, const struct ibv_sge *sges, int n);
void say_send_wrs(struct out *out, const char *name, const struct ibv_send_wr *wr,
		  const struct ibv_qp *qp);
void say_recv_wrs(struct out *out, const char *name, const struct ibv_recv_wr *wr);
void say_extended_wr(struct out *out, const char *name, const struct ibv_qp_ex *qp);

/* For structures.txt. */
static inline bool has_immediate(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_SEND_WITH_IMM || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static inline bool is_rdma(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_RDMA_WRITE || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
	       wr->opcode == IBV_WR_RDMA_READ;
}

static inline bool is_atomic(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

void say_completions(struct out *out, const char *name, const struct ibv_wc *wc, const void *cq,
		     int n);
void say_extended_completion(struct out *out, struct ibv_cq_ex *cq);
/* "RNR_RETRY_EXC_ERR" */
const char *completion_status(int status);

/* say_cm.c */
/* Shows the attributes of a QP, its name and number, and the addresses of its id. */
void say_qp_of_id(struct out *out, const char *name, const struct ibv_qp_init_attr *attr,
		  struct rdma_cm_id *id);
void say_cm_event(struct out *out, const char *name, struct rdma_cm_event *const *event);
void say_option(struct out *out, const char *name, int option, int level);

#endif
