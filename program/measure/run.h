/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One run of messages over one connection: their number, their times, and the measurements. The
 * library knows nothing of runs, and a run does not depend on the verbs that move a message. Only
 * the connection's own thread uses it.
 */
#ifndef OUR_RUN_H
#define OUR_RUN_H

#include "common/our_control.h"
#include "program/measure/statistics.h"
#include "program/options.h"

#define OUR_GRACE_S 5 /* time after -D for the answer to the last message */

struct our_run {
	struct our_control *control;
	const struct our_options *options; /* as the user typed them; shared */

	/* Agreed on by both sides; in ping-sr-0 taken from the options */
	bool agreed;             /* each side knows the other's values */
	uint64_t count;          /* messages the client will send */
	uint32_t data_size;      /* bytes a message */
	uint32_t n_data_buffers; /* stream: how many messages may be under way; otherwise 0 */
	bool has_extension;      /* agent: the client sent our extension: docs/protocol.md */

	struct our_statistics statistics;
	struct our_stream_statistics stream; /* a part of `statistics`, if this is a stream */
	struct our_counters before; /* the connection's, at the start of the measured interval */

	/* Messages that go one after the other: the client's, or the agent's answers */
	uint64_t message; /* number of the one under way, from 0; afterwards, how many there were */
	uint64_t
		sent_ns; /* this message was sent, or due, or the last one answered then; 0: none yet */
	uint64_t started_ns;  /* client: the start of the run; 0: not yet */
	uint64_t deadline_ns; /* client: the end of --duration; UINT64_MAX: none */
	uint64_t now_ns;      /* client: the last reading of the clock */
	uint64_t give_up_ns;  /* client: the end of -D and of the grace; UINT64_MAX: no -D */
	bool under_way;       /* client: sent, and no failure since */

	uint64_t seen; /* completions, when it was last asked whether any had come: see hint */
};

static inline struct our_run *our_run_of(const struct our_control *control)
{
	return control->user;
}

static inline const struct our_options *our_options_of(const struct our_control *control)
{
	return our_run_of(control)->options;
}

/*
 * Makes `run`, which is all zero, the run of `control`, as the options say. The caller owns both.
 * Cannot fail.
 */
void our_setup_run(struct our_run *run, struct our_control *control,
		   const struct our_options *options);

/*
 * Limits the next wait for a completion to --timeout seconds from now_ns, or to the time when a run
 * with -D is given up. Without either there is no limit.
 */
void our_limit_wait(struct our_run *run, uint64_t now_ns);

/*
 * Prepares the statistics: see our_statistics_prepare. Call it before the first message; in a
 * client when the client is connected, because the time of -D, after which it gives up, begins
 * here.
 */
void our_prepare_run(struct our_run *run);

/* To be called when the warm-up is over: starts the measurement. See our_statistics_start. */
void our_start_measuring(struct our_run *run);

/*
 * Client: prepares the statistics, and a run of messages that go one after the other. Call it when
 * connected.
 */
void our_begin_run(struct our_run *run);

/*
 * Counts the message before, if there was one, as done; the first call starts the time of the run.
 * Call it once for each message, or the end of the warm-up is missed. Returns whether there is
 * another one to send: not after Ctrl-C, -c messages, or the time of -D.
 */
bool our_next_message(struct our_run *run);

/*
 * Waits until the message is due (--rate). Meanwhile nothing is under way, and nothing may arrive.
 * Returns 0; EPROTO, reported; or an errno value as our_await_completion does.
 */
int our_await_turn(struct our_run *run);

/*
 * Start the clock when the message is about to be sent, and stop it when it has come back. One that
 * was due while the message before it was still under way counts from when it was due, because it
 * was waiting, too.
 */
void our_start_clock(struct our_run *run);
void our_stop_clock(struct our_run *run);

/*
 * Agent: prepares the statistics, and measures from here on if there is no warm-up; limits the wait
 * for the first message. Call it before the connection is established.
 */
void our_begin_answers(struct our_run *run);

/*
 * Agent: a message has been answered, at `now_ns`, and run->message counts it already. Limits the
 * wait for the next one.
 */
void our_note_answer(struct our_run *run, uint64_t now_ns);

/*
 * Stream, at either side: prepares the statistics. If there are at most `least` messages, there
 * is no warm-up: completions and credits come in batches, and a warm-up would leave nothing to
 * measure.
 */
void our_begin_stream(struct our_run *run, uint64_t least);

/*
 * Stream: counts the `messages` moved so far. Messages moved together with the last one of the
 * warm-up belong to the warm-up.
 */
void our_count_messages(struct our_run *run, uint64_t messages);

/*
 * Ends the statistics, and judges how the run has ended: with `ret`, an errno value or 0. Returns
 * as our_judge_end does.
 */
int our_end_run(struct our_run *run, int ret);

/*
 * Judges how a run of messages has ended: with `ret`, the result of the stage's way of waiting,
 * after `messages` of them. Reports when the peer left or fell silent too early; this is not an
 * error for an agent whose client had announced no number (-D). Says that the peer left only if the
 * CM said so, for which it may wait a little: a flush alone may have another cause.
 *
 * Returns 0; EINTR when the program was asked to stop, and nothing worse happened; otherwise `ret`,
 * reported by now. Sets control->complete.
 */
int our_judge_end(struct our_run *run, int ret, uint64_t messages);

/*
 * Prints the statistics of the run on stdout, as the options say. To be called while the device is
 * open, after our_statistics_end. Returns the errno value of a stdout that cannot be written to,
 * reported; or `ret`, how the run has ended. Any thread.
 */
int our_report_results(const struct our_control *control, int ret);

#endif
