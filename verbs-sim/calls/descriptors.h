/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Descriptors of this program that belong to the simulation: eventfds that are readable while the
 * queue behind them has events. So the real poll(2), select(2) and epoll(7) can say what is ready.
 */
#ifndef VERBS_SIM_CALLS_DESCRIPTORS_H
#define VERBS_SIM_CALLS_DESCRIPTORS_H
#include "verbs-sim/device/device.h"

void sim_add_descriptor(struct sim_channel *channel);
void sim_remove_descriptor(struct sim_channel *channel);

/* Brings all descriptors up to date: before each look at what is ready. */
void sim_show_descriptors(void);

/* The channel that a descriptor belongs to; NULL: it is the program's own. */
struct sim_channel *sim_channel_of(int fd);

/* Whether the program has made it so that reading must not block. */
bool sim_is_nonblocking(int fd);

/* Sleeps until the channel has an event, which it returns; NULL and errno: EAGAIN, or EINTR. */
struct sim_event *sim_await_event(struct sim_channel *channel, int fd);

/* ---- Timers of the program: timerfd_create(2) ---- */

/* Makes those that have expired readable. */
void sim_show_timers(void);

/* Of a descriptor that is closed, which may be none. */
void sim_forget_timer(int fd);
void sim_forget_socket(int fd);

/*
 * Whether what is written to this descriptor is lost: TCP accepts the first data for a peer that has
 * closed its end, which answers with a reset. Only what follows fails.
 */
bool sim_is_lost(int fd);
#endif
