/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: writes arguments and results. The tables in calls/ name these functions. Each
 * writes one item of a line, called `name`, and accepts NULL.
 */
#ifndef VERBS_TRACE_TOOL_SAY_H
#define VERBS_TRACE_TOOL_SAY_H

#include <poll.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "verbs-trace/tool/call.h"

/* say_common.c */
void say_pointer(struct out *out, const char *name, const void *pointer);
void say_new(struct call *call, const char *name, enum kind kind, const void *pointer);
/* "send_cq cq1" */
void say_labelled(struct out *out, const char *name, enum kind kind, const void *pointer);
void say_int(struct out *out, const char *name, const int *value);
void say_hex(struct out *out, const char *name, uint64_t value);
void say_access(struct out *out, const char *name, uint64_t access);
void say_bytes(struct out *out, const char *name, const void *data, size_t length);
void say_gid(struct out *out, const char *name, const union ibv_gid *gid);
void say_address(struct out *out, const char *name, const struct sockaddr *address);
void say_immediate(struct out *out, const char *name, __be32 value);

/* say_device.c */
void say_device(struct out *out, const char *name, struct ibv_device *device);
void say_device_attr(struct out *out, const char *name, const struct ibv_device_attr *attr);
void say_device_attr_ex(struct out *out, const char *name, const struct ibv_device_attr_ex *attr);
void say_port_attr(struct out *out, const char *name, const struct ibv_port_attr *attr);
void say_gid_entry(struct out *out, const char *name, const struct ibv_gid_entry *entry);
void say_async_event(struct out *out, const char *name, const struct ibv_async_event *event);
void say_async_type(struct out *out, const char *name, enum ibv_event_type type);

/* say_queues.c */
void say_ah_attr(struct out *out, const char *name, const struct ibv_ah_attr *attr);
void say_qp_attr(struct out *out, const char *name, const struct ibv_qp_attr *attr, int mask);
void say_qp_init_attr(struct out *out, const char *name, const struct ibv_qp_init_attr *attr);
void say_qp_init_attr_ex(struct out *out, const char *name, const struct ibv_qp_init_attr_ex *attr);
void say_cq_init_attr_ex(struct out *out, const char *name, const struct ibv_cq_init_attr_ex *attr);
void say_srq_attr(struct out *out, const char *name, const struct ibv_srq_attr *attr);
void say_srq_init_attr(struct out *out, const char *name, const struct ibv_srq_init_attr *attr);
void say_ece(struct out *out, const char *name, const struct ibv_ece *ece);
void say_cq_of_event(struct out *out, const char *name, struct ibv_cq *const *cq);

/* say_requests.c */
void say_sges(struct out *out, const char *name, const struct ibv_sge *sges, int n);
void say_send_wrs(struct out *out, const char *name, const struct ibv_send_wr *wr,
		  const struct ibv_qp *qp);
void say_recv_wrs(struct out *out, const char *name, const struct ibv_recv_wr *wr);
void say_mw_bind(struct out *out, const char *name, const struct ibv_mw_bind *bind);
void say_extended_wr(struct out *out, const char *name, const struct ibv_qp_ex *qp);

/* say_completions.c */
void say_completions(struct out *out, const char *name, const struct ibv_wc *wc, const void *cq,
		     int n);
void say_extended_completion(struct out *out, struct ibv_cq_ex *cq);
/* "RNR_RETRY_EXC_ERR" */
const char *completion_status(int status);

/* say_cm.c */
void say_port_space(struct out *out, const char *name, int port_space);
void say_conn_param(struct out *out, const char *name, const struct rdma_conn_param *param);
void say_private_data(struct out *out, const char *name, const void *data, size_t length);
/* What it was asked for, which QP it is, and between which addresses. */
void say_qp_of_id(struct out *out, const char *name, const struct ibv_qp_init_attr *attr,
		  struct rdma_cm_id *id);
void say_cm_event(struct out *out, const char *name, struct rdma_cm_event *const *event);
/* What a connect request brought, of an id that rdma_get_request has returned. */
void say_request(struct out *out, const struct rdma_cm_id *id);
void say_addrinfo(struct out *out, const char *name, const struct rdma_addrinfo *info);
void say_option_level(struct out *out, const char *name, int level);
void say_option(struct out *out, const char *name, int option, int level);

/* say_waits.c */
void say_pollfds(struct out *out, const char *name, const struct pollfd *fds, nfds_t n);

#endif
