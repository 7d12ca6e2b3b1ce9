/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the library's own files share behind the public head of a control and of a device.
 */
#ifndef OUR_PRIVATE_H
#define OUR_PRIVATE_H

#include <sys/queue.h>
#include <sys/socket.h>

#include "waiting.h"

#define OUR_POLL_BATCH 16

/* The library's own work, by wr_id; what a device sends has a buffer's index in the low half. */
#define OUR_WR_ID_KEEPALIVE (OUR_WR_ID_OURS | 1ull << 32)

/* Completions that were polled, and not handed out yet. */
struct our_batch {
	struct ibv_wc wc[OUR_POLL_BATCH];
	int next, polled;
};

/* How the peer's host is asked whether it is still there: keepalive.c. */
struct our_keepalive {
	uint64_t due_ns;   /* when to check next whether anything has come; OUR_NEVER */
	uint32_t silences; /* checks in a row before which nothing had come */
	bool heard;        /* something has come since the last check */
	bool under_way;    /* posted, and not completed */
};

struct our_private {
	struct our_control head; /* first: a pointer to one is a pointer to the other */
	struct our_wait_state waiting;
	struct our_batch batch;
	struct our_keepalive keepalive;
	bool accepted; /* an agent's accept has been sent */
	bool failed;   /* work has failed: nobody may be there to answer a disconnect */
	LIST_ENTRY(our_private) of_device;
};

static inline struct our_private *our_private(const struct our_control *control)
{
	return (struct our_private *)(uintptr_t)control;
}

/* device.c: the connection of a QP on the shared CQ. */
void our_add_to_device(struct our_control *control);
void our_remove_from_device(struct our_control *control);

/* control.c */
int our_allocate_control(const struct our_config *config, enum our_role role,
			 struct our_control **control);

/* connection.c */
void our_learn_device(struct our_control *control);
bool our_is_iwarp(const struct ibv_context *verbs);

/* established.c: an agent's connection stands, as an event or a completion says. 0 or an errno value. */
int our_note_established(struct our_control *control);

/* wc_status.c: hands out a completion, or reports why it failed. */
int our_take_wc(struct our_control *control, const struct ibv_wc *wc,
		struct our_completion *completion);
/* Whether a completion is as if it had been flushed: why, only the CM can say. */
bool our_is_flushed(const struct our_control *control, const struct ibv_wc *wc);

/* memory.c: buffers in one MR, for a control or a device. 0 or an errno value, reported. */
int our_make_memory(const struct our_config *config, struct ibv_pd *pd, uint32_t n, uint32_t size,
		    int access, struct our_memory *memory);
void our_free_memory(const struct our_config *config, struct our_memory *memory);
int our_register(const struct our_config *config, struct ibv_pd *pd, void *data, size_t length,
		 int access, struct ibv_mr **mr);

/* queue_pair.c */
void our_flush_qp(struct our_control *control);
int our_judge_post(const struct our_control *control, const char *call, int ret);

/* keepalive.c */
void our_start_keepalive(struct our_control *control);
int our_keep_alive(struct our_control *control, uint64_t now_ns);
/* Takes a keepalive's completion out of `n` that were polled. Returns how many are left. */
int our_take_out_keepalive(struct our_control *control, struct ibv_wc *wc, int n);

/* disconnect.c */
uint64_t our_disconnect_limit_s(const struct our_control *control);

#endif
