/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-sr-2: what moves over one connection: a stream of messages one way, credits the other. Of
 * the client and of the agent, each with its own meaning of the counters; the connection's own
 * thread uses it, and no other.
 */
#ifndef OUR_BLAST_H
#define OUR_BLAST_H

#include "common/control.h"

/* What only these two programs have: set by our_process_options, and never after. */
extern struct our_blast_options {
	uint64_t buffers;      /* client: message buffers of each side */
	uint64_t chain;        /* work requests a post; 0: as many as may be posted */
	uint64_t signal_every; /* client: sends; 0: see signal_every() */
	uint64_t
		inline_size; /* client: bytes: messages up to this long are inline, if the QP can */
	uint64_t sge;        /* pieces that a message is gathered from, or scattered to */
	uint64_t max_buffers;  /* a server takes from a client at most so many buffers */
	uint64_t credit_batch; /* agent: receives to post again at a time; 0: see batch() */
	uint64_t sleep_us;     /* agent: after each message */
	bool no_credits;       /* client: does not care whether there are receives */
} our_blast_options;

#define OUR_CREDIT_LENGTH 8 /* bytes of a credit message: a count, big-endian */
#define OUR_CREDIT_SENDS  8 /* an agent has at most so many of them on their way */

/*
 * After so much silence an agent returns what is left of a batch: a client whose time (-D) is over waits
 * for it. Much longer than the pause between messages, or there would be no batches.
 */
#define OUR_IDLE_NS (OUR_NS_PER_S / 50)

/*
 * Messages are numbered from 0; number m uses buffer m modulo n_data_buffers, at both ends. All
 * counters only grow: client: credited <= posted, completed <= posted, and neither is ever more
 * than n_data_buffers behind it. Agent: credited <= posted <= received + n_data_buffers.
 */
struct our_transfer {
	uint64_t goal;   /* client: so many messages are going to be sent; falls when -D is over */
	uint64_t posted; /* client: sends posted; agent: receives posted */
	uint64_t completed; /* client: sends completed, signaled or not; agent: messages received */
	uint64_t started_ns; /* client: when message 0 was due */
	uint64_t credited; /* the agent has told, or the client knows, that so many have arrived */
	uint64_t heard;    /* client, with --rate: so much was credited when it last looked */
	uint64_t credit_batch;    /* agent: receives to post again at a time */
	uint64_t signal_every;    /* client: every so many sends one is signaled */
	uint32_t credits_on_way;  /* agent: credit messages sent and not completed */
	uint32_t next_credit;     /* agent: the slot of the next one */
	struct ibv_sge *sges;     /* n_sge for each buffer */
	uint8_t *credits;         /* slots of OUR_CREDIT_LENGTH: to receive, or to send */
	struct ibv_mr *credit_mr; /* of all slots */
	struct our_stream_statistics stream;
};

/* ---- chains.c: several work requests with one call ---- */

/*
 * Client: posts the sends of the next `n` messages, as chains, and counts them in `posted`. Every
 * signal_every'th is signaled. Returns 0 or what our_judge_post says.
 */
int our_post_send_chain(struct our_control *client, uint64_t n);

/* Agent: posts the receives of the next `n` messages, likewise. */
int our_post_recv_chain(struct our_control *agent, uint64_t n);

/*
 * Gives the work requests of all buffers their pieces: n_sge of them, as equal as can be. Returns
 * 0, or an errno value, reported. our_unsetup_pieces undoes it.
 */
int our_setup_pieces(struct our_control *control);
void our_unsetup_pieces(struct our_control *control);

/* ---- credits.c ---- */

/*
 * Makes memory for credit messages. A client posts receives for as many as there can ever be on
 * their way: one for each buffer. Returns 0 or an errno value, reported, and there is nothing to
 * undo; our_unsetup_credits undoes it, once the QP can touch them no more or is flushed.
 */
int our_setup_credits(struct our_control *control, uint32_t slots);
int our_post_credit_recv(struct our_control *client, uint32_t slot);
void our_unsetup_credits(struct our_control *control);

/*
 * Client: takes the credits that a completed receive brought, having checked them, and posts the
 * receive again. Returns 0; EPROTO for credits that cannot be, reported; or a failed post.
 */
int our_take_credits(struct our_control *client, const struct our_completion *completion);

/*
 * Agent: posts the receives of all messages taken so far again, and tells the client how many those
 * are; nothing while OUR_CREDIT_SENDS messages are on their way. Returns 0 or a failed post.
 */
int our_return_credits(struct our_control *agent);

/* ---- sequence.c ---- */

/*
 * Agent: compares message number `message`, just received, with what it should be, and names what
 * is wrong: lost, repeated, out of order or torn. Returns 0 or EBADMSG, reported.
 */
int our_check_sequence(const struct our_control *agent, uint64_t message);

/* ---- drain.c: what both operations share ---- */

/*
 * Waits for a completion, at most until our_now_ns is `until_ns` (UINT64_MAX: for as long as it takes),
 * and hands it and all that came with it to `take`, one by one. Returns 0; EAGAIN: it is time; or the
 * first error of our_await_completion or `take`.
 */
int our_drain(struct our_control *control, uint64_t until_ns,
	      int (*take)(struct our_control *control, const struct our_completion *completion));

/*
 * Prepares the statistics; and counts, from when the warm-up is over: `messages` is how many have
 * been moved in all. What was moved at once with the last of the warm-up belongs to it.
 */
void our_start_counting(struct our_control *control);
void our_count_messages(struct our_control *control, uint64_t messages);

#endif
