/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Tests of verbs-trace: a connection of a process with itself, for sins.c. All functions end the process
 * with status 3 if a call fails that should not.
 */
#ifndef TESTS_TRACER_PAIR_H
#define TESTS_TRACER_PAIR_H

#include <rdma/rdma_cma.h>

#define DEPTH 64  /* work requests */
#define SIZE  256 /* bytes of a buffer */

/* What one side has. */
struct side {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char buffer[SIZE];
};

struct pair {
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;
	struct side client, server;
	/* To be set before: */
	int cq_entries; /* of the client's */
	int receives;   /* that the server posts before it accepts */
	int retry_count, rnr_retry_count;
	/* Called with the request's event before its ack, and just after. */
	void (*on_request)(struct rdma_cm_event *event);
	void (*after_ack)(void);
};

/* Prints what failed, and ends the process, unless `good`. */
void must(int good, const char *what);

void pair_connect(struct pair *pair, const char *address);
void pair_disconnect(struct pair *pair);

void post_recv(struct side *side);
/* A signaled send. */
void post_send(struct side *side);
/* A signaled work request whose completion is in error. */
void post_failing(struct side *side);
/* Waits for a completion, and returns its status. */
enum ibv_wc_status poll_one(struct side *side);
/* The next event of the channel, which is for the caller to ack. */
struct rdma_cm_event *next_event(struct pair *pair, enum rdma_cm_event_type type);

#endif
