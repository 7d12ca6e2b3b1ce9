/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Waiting for descriptors, for other calls than poll(2).
 */
#ifndef VERBS_SIM_CALLS_POLL_H
#define VERBS_SIM_CALLS_POLL_H
#include <poll.h>
#include <stdint.h>

/* As poll(2) without waiting. */
int sim_look(struct pollfd *fds, nfds_t nfds);

/* As poll(2), until a simulated time. */
int sim_poll(struct pollfd *fds, nfds_t nfds, uint64_t deadline_ns);
#endif
