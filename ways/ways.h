/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Ways to wait for completions that no stage of the ladder has: see the README.
 */
#ifndef OUR_WAYS_H
#define OUR_WAYS_H

#include "common/waiting.h"
#include "ping-sr-3/comp_channel.h"

extern const struct our_completion_ops our_polling_yields;    /* polling.c */
extern const struct our_completion_ops our_polling_naps;      /* polling.c */
extern const struct our_completion_ops our_polling_backs_off; /* polling.c */
extern const struct our_completion_ops our_blocking_event;    /* event.c */
extern const struct our_completion_ops our_uring_channel;     /* io_uring.c: if liburing is there */

/*
 * Takes one event of the channel, and sleeps until there is one: ibv_get_cq_event(3). Returns 0, also
 * after a signal, or an errno value, reported.
 */
int our_take_event(struct our_control *control, struct our_comp_channel *channel);

#endif
