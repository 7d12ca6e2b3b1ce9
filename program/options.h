/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The command line: one table of options for all programs, of which each program accepts only
 * what it uses. What the user typed stays as it is (const) once it has been read.
 */
#ifndef OUR_OPTIONS_H
#define OUR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs-trace/verbs-trace.h"

struct addrinfo;

#define OUR_EXIT_DONE   0
#define OUR_EXIT_FAILED 1
#define OUR_EXIT_USAGE  2

#define OUR_DEFAULT_PORT    "12321"
#define OUR_DEFAULT_COUNT   1000
#define OUR_DEFAULT_SIZE    64
#define OUR_MAX_SIZE        (1ull << 31) /* no RDMA message is longer than 2 GiB */
#define OUR_MAX_BUFFERS     (1u << 20)
#define OUR_COUNT_UNLIMITED 1000000000000ull /* -D without -c: until the client leaves */

#define OUR_DEFAULT_MAX_SIZE    (16ull << 20)
#define OUR_DEFAULT_BUFFERS     64
#define OUR_DEFAULT_MAX_BUFFERS 65536
#define OUR_DEFAULT_MAX_MEMORY  (1ull << 30)
#define OUR_DEFAULT_INLINE      64

/* One bit for each row of the table of options. */
enum our_option_bit {
	OUR_OPT_PEER_ADDRESS = 1u << 0, /* -a, required */
	OUR_OPT_BIND_ADDRESS = 1u << 1, /* -a, default any */
	OUR_OPT_PORT = 1u << 2,
	OUR_OPT_CLIENTS = 1u << 3,
	OUR_OPT_COUNT = 1u << 4,
	OUR_OPT_DURATION = 1u << 5,
	OUR_OPT_SIZE = 1u << 6,
	OUR_OPT_VERIFY = 1u << 7,
	OUR_OPT_WAIT = 1u << 8,
	OUR_OPT_TRACE = 1u << 9,
	OUR_OPT_TRACE_MESSAGES = 1u << 10,
	OUR_OPT_STATS = 1u << 11,
	OUR_OPT_JSON = 1u << 12,
	OUR_OPT_QUIET = 1u << 13,
	OUR_OPT_HELP = 1u << 14,
	OUR_OPT_VERSION = 1u << 15,
	OUR_OPT_TIMEOUT = 1u << 16,
	OUR_OPT_MAX_COUNT = 1u << 17,
	OUR_OPT_MAX_SIZE = 1u << 18,
	OUR_OPT_RATE = 1u << 19,
	OUR_OPT_BUFFERS = 1u << 20,
	OUR_OPT_CHAIN = 1u << 21,
	OUR_OPT_SIGNAL_EVERY = 1u << 22,
	OUR_OPT_INLINE = 1u << 23,
	OUR_OPT_SGE = 1u << 24,
	OUR_OPT_NO_CREDITS = 1u << 25,
	OUR_OPT_MAX_BUFFERS = 1u << 26,
	OUR_OPT_MAX_MEMORY = 1u << 27,
	OUR_OPT_CREDIT_BATCH = 1u << 28,
	OUR_OPT_SLEEP = 1u << 29,
	OUR_OPT_VERIFY_ARRIVALS = 1u << 30, /* -v of a program that checks what it receives */
	OUR_OPT_SPIN = 1u << 31,
};

#define OUR_OPTS_EVERY                                                                             \
	(OUR_OPT_PORT | OUR_OPT_TIMEOUT | OUR_OPT_TRACE | OUR_OPT_TRACE_MESSAGES | OUR_OPT_STATS | \
	 OUR_OPT_JSON | OUR_OPT_QUIET | OUR_OPT_HELP | OUR_OPT_VERSION)

/* What a program says of itself to our_process_options. */
struct our_program {
	const char *stage;   /* "ping-sr-0" */
	const char *role;    /* "client" or "server" */
	const char *name;    /* "ping-sr-0/client" */
	const char *summary; /* what it does, for --help: a sentence */
	uint32_t accepts;    /* enum our_option_bit, or-ed */
};

struct our_options {
	const struct our_program *program;
	uint32_t given;             /* enum our_option_bit, or-ed: what was typed */
	const char *address;        /* as typed; NULL: any */
	const char *port;           /* decimal */
	struct addrinfo *addresses; /* what address and port mean: each is tried, in order */
	uint64_t clients;           /* how many a server serves; 0: until interrupted */
	uint64_t count;             /* messages; OUR_COUNT_UNLIMITED when only -D was given */
	uint64_t duration_s;        /* 0: none */
	uint64_t data_size;         /* bytes a message */
	uint64_t wait_s;            /* how long a client waits for its server to come up */
	uint64_t max_count;         /* a server takes from a client at most so many messages, */
	uint64_t max_size;          /* of at most so many bytes */
	uint64_t rate;              /* messages a second that a client sends; 0: all it can */
	uint64_t timeout_s;         /* no wait for the peer lasts longer; 0: for ever */
	uint64_t buffers;           /* message buffers of each side; 0: the program has its own */
	uint64_t chain;             /* work requests a post; 0: as many as may be posted */
	uint64_t signal_every;      /* sends; 0: the program decides */
	uint64_t inline_size;       /* bytes: messages up to this long are inline, if the QP can */
	uint64_t sge;               /* pieces that a message is gathered from, or scattered to */
	uint64_t max_buffers;       /* a server takes from a client at most so many buffers, */
	uint64_t max_memory;        /* of at most so many bytes together */
	uint64_t credit_batch;      /* receives that an agent posts again at a time; 0: see there */
	uint64_t sleep_us;          /* an agent's, after each message */
	uint64_t spin_us;           /* how long to look for a completion before going to sleep */
	enum verbs_trace_level trace_level;
	bool verify;
	bool no_credits; /* the sender does not care whether there are receives */
	bool stats;
	bool json;
	bool quiet;
};

/*
 * Reads the command line into *options, looks up the address (getaddrinfo(3)), sets the program's
 * name, and starts the trace that -t or -T asks for. argv's strings are referred to, not copied.
 *
 * Returns 0: go on, and call our_unprocess_options at the end; ECANCELED: --help or --version has
 * been answered on stdout; EINVAL: wrong usage, reported; EAGAIN: the name service failed,
 * reported. In all but the first case there is nothing to undo: leave with what
 * our_options_exit_status says. Call it once, from main, before any other thread runs.
 */
int our_process_options(int argc, char **argv, const struct our_program *program,
			struct our_options *options);

/* Frees what our_process_options acquired. */
void our_unprocess_options(struct our_options *options);

/*
 * The exit status for what our_process_options returned, other than 0: OUR_EXIT_DONE after --help,
 * OUR_EXIT_FAILED when the name service failed, else OUR_EXIT_USAGE.
 */
int our_options_exit_status(int error);

/*
 * The exit status for an errno value that a program ends with: 0 and EINTR (a signal asked for
 * the end, and there was no error) are OUR_EXIT_DONE; EMSGSIZE (more was asked for than the
 * device takes) is OUR_EXIT_USAGE; all others are OUR_EXIT_FAILED.
 */
int our_exit_status(int error);

#endif
