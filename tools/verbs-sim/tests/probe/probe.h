/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the questions of probe.c, and their common functions to print.
 *
 * Contract: see probe.c.
 */
#ifndef PROBE_H
#define PROBE_H

#include <stdarg.h>
#include <time.h>

#define DEPTH  16
#define BUFFER (1 << 16)
#include "verbs/two_ends.h"

/* telling.c */
void restart_clock(void);
double ms_passed(void);
__attribute__((format(printf, 1, 2))) void told(const char *format, ...);
void tell_post(const struct end *end, const char *what, int ret);
bool event_within(struct rdma_event_channel *events, int ms, struct rdma_cm_event *copy);
int watch(struct ends *e, int ms, int enough);

/* datagrams.c */
void ask_datagrams(struct ends *e, int unused);
void ask_multicast(struct ends *e, int unused);

/* device.c */
void ask_attributes(struct ends *e, int unused);
void ask_gids(struct ends *e, int unused);
void ask_pkeys(struct ends *e, int unused);
void ask_pieces(struct ends *e, int unused);

/* edges.c */
void ask_edges(struct ends *e, int unused);
void ask_reuse(struct ends *e, int times);
void ask_words(struct ends *e, int unused);

/* handles.c */
void ask_handles(struct ends *e, int unused);

/* limits.c */
void ask_limits(struct ends *e, int unused);
void ask_busy(struct ends *e, int unused);

/* terms.c */
void ask_terms(struct ends *e, int unused);

/* paths.c */
void ask_paths(struct ends *e, int unused);

/* pools.c */
void ask_pool_recv(struct ends *e, int unused);
void ask_pool(struct ends *e, int limit);
void ask_pool_empty(struct ends *e, int unused);
void ask_pool_torn(struct ends *e, int unused);

/* reads.c */
void ask_meet(struct ends *e, int reads);
void ask_meet_empty(struct ends *e, int reads);
void ask_empty(struct ends *e, int unused);
void ask_empty_gone(struct ends *e, int seconds);

/* requests.c */
void ask_request(struct ends *e, int accept);
void ask_backlog(struct ends *e, int backlog);
void ask_caps(struct ends *e, int unused);
void ask_remote(struct ends *e, int opcode);
void ask_full(struct ends *e, int unused);
void ask_inline(struct ends *e, int unused);
void ask_close(struct ends *e, int unused);
void ask_ack_timeout(struct ends *e, int unused);

/* rights.c */
void ask_regions(struct ends *e, int unused);
void ask_steps(struct ends *e, int unused);

/* turns.c */
void ask_turns(struct ends *e, int unused);

/* windows.c */
void ask_uc(struct ends *e, int unused);
void ask_windows(struct ends *e, int unused);

#endif
