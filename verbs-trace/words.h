/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace: numbers and structures as text. All functions write into text[size] and return text;
 * none fails. Any thread may call them.
 */
#ifndef VERBS_TRACE_WORDS_H
#define VERBS_TRACE_WORDS_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define VERBS_TRACE_TEXT 224

/* "local 192.0.2.1:3000, peer 192.0.2.1:12321" */
const char *verbs_trace_addresses(struct rdma_cm_id *id, char *text, size_t size);

/*
 * The bytes in hexadecimal, with their number; and their meaning, if they are the private data of
 * docs/protocol.md: they begin with our magic number, or have it after three numbers.
 */
const char *verbs_trace_private_data(const void *data, size_t length, char *text, size_t size);

/* "wr_id 0x0, SEND of 64 bytes, signaled, inline"; of a chain the first, and how many follow. */
const char *verbs_trace_send(const struct ibv_send_wr *wr, char *text, size_t size);
const char *verbs_trace_recv(const struct ibv_recv_wr *wr, char *text, size_t size);

/*
 * "receive, wr_id 0x1, 64 bytes"; for a failed one the status, and only the fields that are valid
 * then.
 */
const char *verbs_trace_completion(const struct ibv_wc *wc, char *text, size_t size);

#endif
