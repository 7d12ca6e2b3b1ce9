/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-sr-2: a stream of messages one way, credits the other way: what client and agent share.
 */
#ifndef OUR_BLAST_H
#define OUR_BLAST_H

#include "program/options.h"
#include "program/stage.h"

/* Options of these two programs only: set by our_process_options, and not changed afterwards. */
extern struct our_blast_options {
	uint64_t buffers;      /* client: message buffers of each side */
	uint64_t chain;        /* work requests in a post, at most; 0: as many as may be posted */
	uint64_t signal_every; /* client: signals one send in this many; 0: see signal_every() */
	uint64_t
		inline_size; /* client: bytes: messages up to this long are inline, if the QP can */
	uint64_t sge;        /* pieces that a message is gathered from, or scattered to */
	uint64_t max_buffers;  /* the most buffers that a server accepts from a client */
	uint64_t credit_batch; /* agent: receives to post again at a time; 0: see batch() */
	uint64_t sleep_us;     /* agent: sleeps this long after each message */
	bool no_credits;       /* client: sends whether or not there are receives */
} our_blast_options;

#define OUR_CREDIT_LENGTH 8 /* bytes of a credit message: a count, big-endian */
#define OUR_CREDIT_SENDS  8 /* credit messages that an agent has on their way, at most */

/*
 * After this much silence an agent returns the rest of a batch, for which a client waits when its
 * time (-D) is over. This must be much longer than the pause between messages, or there would be no
 * batches.
 */
#define OUR_IDLE_NS (OUR_NS_PER_S / 50)

/*
 * The state of a client or an agent, for which the counters mean different things; only the connection's
 * own thread uses it.
 *
 * Messages are numbered from 0; number m uses buffer m modulo n_data_buffers, at both ends. All
 * counters only grow. Client: credited <= posted, completed <= posted, and neither is ever more
 * than n_data_buffers behind. Agent: credited <= completed <= posted <= completed + n_data_buffers.
 */
struct our_blast {
	uint64_t goal;      /* client: how many messages it will send; falls when -D is over */
	uint64_t posted;    /* client: sends posted; agent: receives posted */
	uint64_t completed; /* client: sends completed, signaled or not; agent: messages received */
	uint64_t started_ns;      /* client: when message 0 was due */
	uint64_t credited;        /* messages credited by the agent, as far as this side knows */
	uint64_t heard;           /* client, with --rate: what was credited when it last looked */
	uint64_t credit_batch;    /* agent: receives to post again at a time */
	uint64_t signal_every;    /* client: one send in this many is signaled */
	uint32_t credits_on_way;  /* agent: credit messages sent and not completed */
	uint32_t next_credit;     /* agent: the slot of the next credit message */
	struct ibv_sge *sges;     /* n_sge for each buffer */
	uint8_t *credits;         /* slots of OUR_CREDIT_LENGTH: to receive, or to send */
	struct ibv_mr *credit_mr; /* the region of all slots */
};

/*
 * The roles, and what agent and listener check: see struct our_stage. client.c, agent.c, options.c,
 * limits.c.
 */
int our_blast_client(struct our_control *client, struct sockaddr *server);
int our_blast_agent(struct our_control *agent);
int our_blast_check(struct our_control *agent);
int our_blast_check_listener(struct our_control *listener);

/* ---- limits.c: what the device takes, and in which batches ---- */

/*
 * Begins a stream of run->n_data_buffers buffers: sets control->n_sge, all counters to 0, and how many
 * sends are signaled or credits returned at a time. The device is known.
 *
 * Returns 0; or an errno value, reported: the device has no queues for this many buffers (EMSGSIZE for a
 * client; ERANGE for an agent, and the reason for the refusal is set), or takes fewer pieces (--sge:
 * EMSGSIZE for a client, EOPNOTSUPP for an agent). There is nothing to undo. See ibv_query_device(3).
 */
int our_begin_blast(struct our_control *control, bool is_client, struct our_blast *blast);

/* ---- chains.c: several work requests with one call ---- */

/*
 * Client: posts the sends of the next `n` messages, as chains, and counts them in `posted`. Every
 * signal_every'th is signaled. Returns 0 or what our_report_post returns.
 */
int our_post_send_chain(struct our_control *client, struct our_blast *blast, uint64_t n);

/* Agent: posts the receives of the next `n` messages in the same way. */
int our_post_recv_chain(struct our_control *agent, struct our_blast *blast, uint64_t n);

/*
 * Gives the work requests of all buffers their scatter/gather elements: n_sge of them, as equal as
 * possible. Returns 0, or an errno value, reported. our_unsetup_pieces undoes it.
 */
int our_setup_pieces(struct our_control *control, struct our_blast *blast);
void our_unsetup_pieces(struct our_blast *blast);

/* ---- credits.c ---- */

/*
 * Allocates memory for `slots` credit messages, which can be on their way. Returns 0 or an errno value,
 * reported, and there is nothing to undo; our_unsetup_credits undoes it, after the QP is destroyed or
 * flushed.
 */
int our_setup_credits(struct our_control *control, struct our_blast *blast, uint32_t slots);
void our_unsetup_credits(const struct our_control *control, struct our_blast *blast);

/* Client: post the receive of a slot, or of all, one for each buffer. Return 0 or a failed post. */
int our_post_credit_recv(struct our_control *client, const struct our_blast *blast, uint32_t slot);
int our_post_credit_recvs(struct our_control *client, const struct our_blast *blast);

/*
 * Client: checks and takes the credits of a completed receive, and posts the receive again. Returns
 * 0; EPROTO for credits that cannot be right, reported; or a failed post.
 */
int our_take_credits(struct our_control *client, struct our_blast *blast,
		     const struct our_completion *completion);

/*
 * Agent: posts the receives of all messages taken so far again, and sends their number to the
 * client; does nothing while OUR_CREDIT_SENDS messages are on their way. Returns 0 or a failed
 * post.
 */
int our_return_credits(struct our_control *agent, struct our_blast *blast);

/* ---- sequence.c ---- */

/*
 * Agent: compares message number `message`, just received, with what it should be, and reports what
 * is wrong: lost, repeated, out of order or torn. Returns 0 or EBADMSG, reported.
 */
int our_check_sequence(const struct our_control *agent, uint64_t message);

/* ---- drain.c: what both operations share ---- */

/*
 * Waits for a completion, at most until our_now_ns is `until_ns` (UINT64_MAX: without limit), and
 * passes it and all that came with it to `take`, one by one. Returns 0; EAGAIN: the time has come;
 * or the first error of our_await_completion or `take`.
 */
int our_drain(struct our_control *control, struct our_blast *blast, uint64_t until_ns,
	      int (*take)(struct our_control *control, struct our_blast *blast,
			  const struct our_completion *completion));

/* The descriptions of client and server for --help, and their options for the data. */
extern const struct our_program our_blast_client_program, our_blast_server_program;

#endif
