/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The parts of a stage: roles, and ways to wait. Each stage has a stage.c, which names them in
 * our_stage, and the linker takes their files from the archives.
 *
 * Another way to move data takes two roles, and no change of common/: this was tried with a ping by
 * RDMA WRITE that polls memory and calls our_await_time. ping-rc-0, whose QPs are connected over a TCP
 * socket, has functions of its own in place of common/connection.c.
 */
#ifndef OUR_STAGE_H
#define OUR_STAGE_H

#include "common/waiting.h"
#include "program/options.h"

/*
 * An agent as reactions, none of which waits: for a loop that serves several connections. `state`
 * has state_size bytes, zero at first.
 */
struct our_agent_ops {
	size_t state_size;

	/* Sets up all that the connection needs, before it is accepted, and undoes it after its end. */
	int (*start)(struct our_control *agent, void *state);
	void (*stop)(struct our_control *agent, void *state);

	/*
	 * Does what a completion requires: takes the message, answers it, and counts the answer in
	 * the agent's run (run->message, our_note_answer). Returns 0, or an errno value, which is
	 * reported unless it is ECONNRESET.
	 */
	int (*react)(struct our_control *agent, void *state,
		     const struct our_completion *completion);
};

/*
 * The functions by which the two sides tell each other about themselves when they connect. A stage
 * without them tells nothing.
 */
struct our_connect_info_ops {
	/*
	 * Client: writes the private data for rdma_connect into `data`, of OUR_MOST_TO_CONNECT bytes, and
	 * returns its length. Cannot fail.
	 */
	size_t (*tell)(struct our_control *client, uint8_t *data);

	/*
	 * Agent: takes count, size and number of buffers for `agent` from the client's private data
	 * (the connect request in `request`), and checks them before using them to allocate
	 * anything. Returns 0; EPROTO (invalid) or ERANGE (over a limit), reported.
	 */
	int (*take)(struct our_control *agent, const struct our_cm_event *request);

	/*
	 * Server: writes the reason for a refusal into `data`, for rdma_reject: see config->refuse. This
	 * is the reason that `take` has found, or the meaning of `error` for the client: EUSERS,
	 * all clients of -n have come; EINTR, we were told to stop; EBUSY, too many at a time;
	 * ENOBUFS, too many others wait; EDQUOT, no memory is left for it; EMFILE, no descriptor;
	 * any other: something else ran out. Returns its length in bytes.
	 */
	size_t (*refuse)(struct our_control *control, int error, uint8_t *data);

	/* Client: writes into text[size] the reason that the server gave with its rejection. */
	void (*explain)(const struct our_cm_event *rejection, char *text, size_t size);

	/* Server: reports, once, which of the given options have no effect. */
	void (*check_options)(const struct our_options *options);
};

/* A stage, as its stage.c describes it. */
struct our_stage {
	const char *name; /* "ping-sr-0": its folder */

	/*
	 * The roles: each is one function, from its first verb to its last. They return 0; EINTR when the
	 * program was asked to stop; or another errno value, reported. A client that was connected has
	 * client->accepted set. A listener serves as many clients as the limits of its run say, and
	 * returns the error of listening, or of serving a client, if it is the server's own.
	 */
	int (*client)(struct our_control *client, struct sockaddr *server);
	int (*agent)(struct our_control *agent);
	int (*listener)(struct our_control *listener);
	const struct our_agent_ops
		*reactions; /* for an agent, if the listener has a loop; else NULL */

	/*
	 * Agent: checks the client's request against the limits of the workload, and sets
	 * the session's memory, the number of bytes that it will take. Count and size have been checked.
	 * Returns 0; or ERANGE, reported: see our_note_refusal.
	 */
	int (*check)(struct our_control *agent);

	/*
	 * Listener that is bound to a device: checks the server's own options against what the device
	 * has. Returns 0; EMSGSIZE (wrong usage); or another errno value; reported. NULL: nothing to check.
	 */
	int (*check_listener)(struct our_control *listener);

	const struct our_connect_info_ops *connect_info; /* NULL: no private data on connecting */
	struct our_waiting waiting;
	struct our_waiting client_waiting; /* NULL: the same as `server` */

	/* The descriptions of client and server for --help, and their options */
	const struct our_program *client_program, *server_program;
	const struct our_option *options[2]; /* both sides' options for waiting; NULL: none */
	const struct our_option *server_options[2]; /* the server's other options */

	/* Facts for tests and tools, which --describe prints: see program/options.c */
	bool sleeps;     /* while it waits for a message; otherwise it polls */
	bool misses_end; /* does not notice the death of a peer: only --timeout ends the wait */
	bool roce_only;  /* because it has no connection manager, or uses atomic operations */
	bool one_way;    /* messages have no answers */
	bool unseen;     /* the server does not learn of a message: its device alone moves it */
	int one_sided;   /* WRITEs, READs and atomic operations for a message; 0: it is sent */
};

/*
 * The stage of this program, which its stage.c defines. Only main uses this name. Other functions
 * call our_stage_of (program/config.h).
 */
extern const struct our_stage our_stage;

#endif
