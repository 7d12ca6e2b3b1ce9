/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: extended queues have tables of functions. The functions of the tool are
 * stored there when the program gets the queue, and the original ones are kept.
 */
#ifndef VERBS_TRACE_TOOL_EXTENDED_H
#define VERBS_TRACE_TOOL_EXTENDED_H

#include <infiniband/verbs.h>

/* The queue's own functions; no other field of the returned structure is valid. */
const struct ibv_qp_ex *extended_qp_ex(const struct ibv_qp_ex *qp);
const struct ibv_cq_ex *extended_cq_ex(const struct ibv_cq_ex *cq);

/* generate.py writes these. */
void install_qp_ex(struct ibv_qp_ex *table, struct ibv_qp_ex *kept);
void install_cq_ex(struct ibv_cq_ex *table, struct ibv_cq_ex *kept);

#endif
