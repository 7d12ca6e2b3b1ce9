/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Miscellaneous layer: the table of options. See option_table.h.
 */
#include "common/clock.h"
#include "common/option_table.h"
#include "common/options.h"

/* Options that have no letter. */
enum {
	LONG_TIMEOUT = OUR_FIRST_LONG_OPTION,
	LONG_MAX_COUNT,
	LONG_MAX_SIZE,
	LONG_RATE,
};

#define SPECIAL             OUR_KIND_SPECIAL, 0, 0, 0
#define FLAG(member)        OUR_KIND_FLAG, offsetof(struct our_options, member), 0, 0
#define NUMBER(member, ...) OUR_KIND_NUMBER, offsetof(struct our_options, member), __VA_ARGS__
#define BYTES(member, ...)  OUR_KIND_BYTES, offsetof(struct our_options, member), __VA_ARGS__

const struct our_option_row our_option_table[OUR_OPTION_ROWS] = {
	{ OUR_OPT_PEER_ADDRESS, 'a', "address", "ADDRESS",
	  "of the server: IPv4, IPv6 or a name (required)", SPECIAL },
	{ OUR_OPT_BIND_ADDRESS, 'a', "address", "ADDRESS",
	  "to listen on: IPv4, IPv6 or a name (default: any)", SPECIAL },
	{ OUR_OPT_PORT, 'p', "port", "PORT", "of the server, 1 to 65535 (default 12321)", SPECIAL },
	{ OUR_OPT_CLIENTS, 'n', "clients", "N",
	  "serve N clients, then leave (default 1; 0: until interrupted)",
	  NUMBER(clients, 0, UINT32_MAX) },
	{ OUR_OPT_COUNT, 'c', "count", "N", "messages (default 1000)",
	  NUMBER(count, 1, OUR_COUNT_UNLIMITED - 1) },
	{ OUR_OPT_DURATION, 'D', "duration", "SECONDS",
	  "run for so long; with -c, until the first of the two",
	  NUMBER(duration_s, 1, UINT32_MAX) },
	{ OUR_OPT_SIZE, 's', "size", "BYTES",
	  "of a message; suffixes k, m, g are powers of 1024 (default 64)",
	  BYTES(data_size, 1, OUR_MAX_SIZE) },
	{ OUR_OPT_VERIFY, 'v', "verify", NULL, "compare every byte that comes back", FLAG(verify) },
	{ OUR_OPT_WAIT, 'w', "wait", "SECONDS", "keep trying for so long until the server is up",
	  NUMBER(wait_s, 0, UINT32_MAX) },
	{ OUR_OPT_MAX_COUNT, LONG_MAX_COUNT, "max-count", "N",
	  "refuse a client that wants to send more messages (default 10^12)",
	  NUMBER(max_count, 1, OUR_COUNT_UNLIMITED) },
	{ OUR_OPT_MAX_SIZE, LONG_MAX_SIZE, "max-size", "BYTES",
	  "refuse a client whose messages are larger (default 16m)",
	  BYTES(max_size, 1, OUR_MAX_SIZE) },
	{ OUR_OPT_RATE, LONG_RATE, "rate", "N", "send N messages a second (default: all it can)",
	  NUMBER(rate, 1, OUR_NS_PER_S) },
	{ OUR_OPT_TIMEOUT, LONG_TIMEOUT, "timeout", "SECONDS",
	  "give up when the peer says nothing for so long (default: never)",
	  NUMBER(timeout_s, 1, INT32_MAX / 1000) },
	{ OUR_OPT_TRACE, 't', "trace", NULL, "show each verb called, its result and its time",
	  SPECIAL },
	{ OUR_OPT_TRACE_MESSAGES, 'T', "trace-messages", NULL, "show each message, too", SPECIAL },
	{ OUR_OPT_STATS, 'x', "stats", NULL, "more statistics: polls, completions, switches",
	  FLAG(stats) },
	{ OUR_OPT_JSON, 'j', "json", NULL, "results as one line of JSON (docs/results.md)",
	  FLAG(json) },
	{ OUR_OPT_QUIET, 'q', "quiet", NULL, "errors only; with -j, JSON and errors only",
	  FLAG(quiet) },
	{ OUR_OPT_HELP, 'h', "help", NULL, "show this and leave", SPECIAL },
	{ OUR_OPT_VERSION, 'V', "version", NULL, "show the version and leave", SPECIAL },
};
