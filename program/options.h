/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The command line: the type of an option, the options that several programs have, and reading
 * them. The user's input is not changed (const) after it has been read.
 */
#ifndef OUR_OPTIONS_H
#define OUR_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct addrinfo;

#define OUR_EXIT_DONE   0
#define OUR_EXIT_FAILED 1
#define OUR_EXIT_USAGE  2

#define OUR_DEFAULT_PORT      "12321"
#define OUR_DEFAULT_COUNT     1000
#define OUR_DEFAULT_SIZE      64
#define OUR_DEFAULT_KEEPALIVE 5                /* seconds */
#define OUR_MAX_SIZE          (1ull << 31)     /* no RDMA message is longer than 2 GiB */
#define OUR_DEFAULT_CLIENTS   1000             /* at a time */
#define OUR_SERVER_TIMEOUT    60               /* seconds */
#define OUR_COUNT_UNLIMITED   1000000000000ull /* -D without -c: until the client leaves */

/* The type of an option's value. */
enum our_option_kind {
	OUR_OPTION_FLAG,    /* a bool, set to true */
	OUR_OPTION_NUMBER,  /* a uint64_t */
	OUR_OPTION_BYTES,   /* a uint64_t, with an optional suffix */
	OUR_OPTION_TEXT,    /* a const char *, not empty; with `min`, it must be given */
	OUR_OPTION_WORD,    /* a uint64_t: the number, from 1, of a word in `argument`, "a|b|c" */
	OUR_OPTION_SPECIAL, /* known to our_process_options */
};

/*
 * An option, declared by the part of the program that uses it. Its value is a member of struct
 * our_options, or a variable of that part. Such a variable holds the default until
 * our_process_options has returned, and is not written afterwards. A table of options ends with one
 * without a name.
 */
struct our_option {
	const char *name;
	int letter;           /* 0: the option has only a name */
	const char *argument; /* the name of the value in --help; NULL: there is no value */
	const char *help;
	enum our_option_kind kind;
	void *value;       /* NULL: the value is in struct our_options */
	size_t offset;     /* the offset there */
	uint64_t min, max; /* limits of a number */
};

/* The end of an option's row, for variables of a part, and for members of struct our_options. */
#define OUR_OWN_FLAG(flag)          OUR_OPTION_FLAG, &(flag), 0, 0, 0
#define OUR_OWN_NUMBER(number, ...) OUR_OPTION_NUMBER, &(number), 0, __VA_ARGS__
#define OUR_OWN_BYTES(number, ...)  OUR_OPTION_BYTES, &(number), 0, __VA_ARGS__
#define OUR_OWN_TEXT(text)          OUR_OPTION_TEXT, &(text), 0, 0, 0
#define OUR_OWN_WORD(number)        OUR_OPTION_WORD, &(number), 0, 0, 0
#define OUR_FLAG(member)            OUR_OPTION_FLAG, NULL, offsetof(struct our_options, member), 0, 0
#define OUR_NUMBER(member, ...) \
	OUR_OPTION_NUMBER, NULL, offsetof(struct our_options, member), __VA_ARGS__
#define OUR_BYTES(member, ...) \
	OUR_OPTION_BYTES, NULL, offsetof(struct our_options, member), __VA_ARGS__

/* Options that more than one part would declare. */
extern const struct our_option our_client_options[];      /* -a, -p, -w, --timeout */
extern const struct our_option our_rate_options[];        /* --rate */
extern const struct our_option our_listener_options[];    /* -a, -p, -n, --timeout */
extern const struct our_option our_message_options[];     /* -c, -D, -s */
extern const struct our_option our_max_clients_options[]; /* --max-clients */
extern const struct our_option our_keepalive_options[];   /* --keepalive: ping-sr-2/keepalive.h */
extern const struct our_option our_every_option[];        /* for every program: -t to -V */
extern const struct our_option our_describe_option[];     /* for the programs of a stage */

#define OUR_MAX_TABLES 8

struct our_stage;

/* A program, as it describes itself to our_process_options, with the tables of its options. */
struct our_program {
	const struct our_stage *made_of; /* for --describe; NULL: not a program of a stage */
	const char *stage;               /* "ping-sr-0" */
	const char *role;                /* "client" or "server" */
	char name[64];                   /* "ping-sr-0/client" */
	const char *summary;             /* the purpose, for --help: a sentence */
	bool needs_atomics;              /* the device must have atomic operations */
	bool results_on_request;         /* with -j or -x: stdout is for the messages themselves */
	uint64_t timeout_s;              /* the default of --timeout */
	const struct our_option *options[OUR_MAX_TABLES]; /* NULL: none */
};

/* -t and -T: see our_trace. */
enum our_trace_level {
	OUR_TRACE_NOTHING,
	OUR_TRACE_CALLS,    /* only the first on each queue of the calls that move messages */
	OUR_TRACE_MESSAGES, /* each call */
};

struct our_options {
	const struct our_program *program;
	const char *address;        /* as typed; NULL: any */
	const char *port;           /* decimal */
	struct addrinfo *addresses; /* for address and port; each is tried, in order */
	uint64_t clients;           /* clients that a server serves; 0: until interrupted */
	uint64_t max_clients;       /* clients that it serves at a time */
	uint64_t
		max_memory; /* the most bytes for all clients together; 0: see program/serve/admission.h */
	uint64_t count;       /* messages; OUR_COUNT_UNLIMITED when only -D was given */
	uint64_t duration_s;  /* 0: none */
	uint64_t data_size;   /* bytes a message */
	uint64_t wait_s;      /* seconds that a client waits for its server to start */
	uint64_t rate;        /* messages a second a client sends; 0: as many as it can */
	uint64_t timeout_s;   /* the limit of a wait for the peer; 0: none */
	uint64_t keepalive_s; /* silence before a keepalive; 0: never */
	enum our_trace_level trace_level;
	bool verify;
	bool stats;
	bool json;
	bool quiet;
};

/* Sets stage, role and name. For main, first of all. */
void our_name_program(struct our_program *program, const char *stage, const char *role);

/* Adds a table to those of a program; NULL adds nothing. For main, before our_process_options. */
void our_add_options(struct our_program *program, const struct our_option *options);

/*
 * Reads the command line into *options and the parts' own variables, looks up the address
 * (getaddrinfo(3)), sets the program's name, and with -t or -T executes the program again, traced
 * (our_trace). Keeps pointers to argv's strings, does not copy them. our_every_option is added to the
 * program's tables.
 *
 * Returns 0: go on, and call our_unprocess_options at the end; ECANCELED: --help, --version or
 * --describe has been answered on stdout; EINVAL: wrong usage, reported; EAGAIN: the name service failed,
 * reported. In all cases except the first there is nothing to undo: exit with
 * our_options_exit_status. Call it once, from main, before any other thread runs.
 */
int our_process_options(int argc, char **argv, const struct our_program *program,
			struct our_options *options);

/* Frees the resources of our_process_options. */
void our_unprocess_options(struct our_options *options);

/*
 * Returns the exit status for a result of our_process_options other than 0: OUR_EXIT_DONE after
 * --help, OUR_EXIT_FAILED when the name service failed, otherwise OUR_EXIT_USAGE.
 */
int our_options_exit_status(int error);

/*
 * Returns the exit status for an errno value with which a program ends: 0 and EINTR (a signal asked
 * for the end, and there was no error) are OUR_EXIT_DONE; EMSGSIZE (more was asked for than the
 * device takes) is OUR_EXIT_USAGE; all others are OUR_EXIT_FAILED.
 */
int our_exit_status(int error);

/* ---- trace.c ---- */

/*
 * Executes this program with the same arguments under verbs-trace, in the same process; each line
 * of the trace begins with our_program_name(). Returns 0 if there is nothing to do, because `level`
 * is OUR_TRACE_NOTHING or because the program has already been executed in this way. Returns EINVAL
 * if verbs-trace cannot be executed, reported with the remedy; ENOMEM, reported. Call it from main,
 * before there is another thread or a descriptor.
 *
 * The tool is the file that the environment variable VERBS_TRACE_TOOL names; otherwise where it was
 * when the program was built (the macro OUR_VERBS_TRACE), or in the directory tools/verbs-trace/ of this
 * project, or beside the program.
 */
int our_trace(enum our_trace_level level, int argc, char **argv);

#endif
