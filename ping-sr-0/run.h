/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A client's run of messages, one after the other: how many, when, and how long each takes. Nothing here
 * depends on the verbs that move a message.
 */
#ifndef OUR_RUN_H
#define OUR_RUN_H

#include "common/control.h"

struct our_run {
	struct our_control *client;
	uint64_t message;     /* the one under way, from 0; afterwards, how many there were */
	uint64_t started_ns;  /* the run; 0: not yet */
	uint64_t deadline_ns; /* of --duration; UINT64_MAX: none */
	uint64_t now_ns;      /* when the clock was read last */
	uint64_t sent_ns;     /* this message, or when it was due */
	bool under_way;       /* sent, and no failure since */
};

/* Prepares the statistics. To be called once connected. */
void our_begin_run(struct our_run *run, struct our_control *client);

/*
 * Counts the message before, if there was one, as done; the first call starts the time of the run.
 * Returns whether there is another one to send: not after Ctrl-C, -c messages, or the time of -D.
 */
bool our_wants_message(struct our_run *run);

/*
 * With --rate: waits until the message is due. Meanwhile nothing is under way, and nothing may arrive.
 * Returns 0; EPROTO, reported; or an errno value as our_await_completion does.
 */
int our_await_turn(struct our_run *run);

/*
 * The message is about to be sent; it has come back. One that was due while the message before it was
 * still under way counts from when it was due, because at a fixed rate it was waiting, too.
 */
void our_start_clock(struct our_run *run);
void our_stop_clock(struct our_run *run);

/*
 * Ends the statistics, and judges how the run has ended: with `ret`, an errno value or 0. Returns as
 * our_judge_end does.
 */
int our_end_run(struct our_run *run, int ret);

#endif
