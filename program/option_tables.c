/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The options that more than one part of the suite would declare. See options.h.
 */
#include "common/clock.h"
#include "program/options.h"

#define SPECIAL OUR_OPTION_SPECIAL, NULL, 0, 0, 0
#define ADDRESS OUR_OPTION_TEXT, NULL, offsetof(struct our_options, address)

#define MAX_TIMEOUT (INT32_MAX / 1000)

const struct our_option our_client_options[] = {
	{ "address", 'a', "ADDRESS", "of the server: IPv4, IPv6 or a name (required)", ADDRESS,
	  true, 0 },
	{ "port", 'p', "PORT", "of the server, 1 to 65535 (default 12321)", SPECIAL },
	{ "wait", 'w', "SECONDS", "keep trying for this long, until the server is up",
	  OUR_NUMBER(wait_s, 0, UINT32_MAX) },
	{ "timeout", 0, "SECONDS",
	  "give up when the server sends nothing for this long (default 0: never)",
	  OUR_NUMBER(timeout_s, 0, MAX_TIMEOUT) },
	{ 0 },
};

const struct our_option our_rate_options[] = {
	{ "rate", 0, "N", "send N messages a second (default: as many as possible)",
	  OUR_NUMBER(rate, 1, OUR_NS_PER_S) },
	{ 0 },
};

const struct our_option our_listener_options[] = {
	{ "address", 'a', "ADDRESS", "to listen on: IPv4, IPv6 or a name (default: any)", ADDRESS,
	  false, 0 },
	{ "port", 'p', "PORT", "to listen on, 1 to 65535 (default 12321)", SPECIAL },
	{ "clients", 'n', "N", "serve N clients, then exit (default 1; 0: until interrupted)",
	  OUR_NUMBER(clients, 0, UINT32_MAX) },
	{ "timeout", 0, "SECONDS",
	  "give up a client that sends nothing for this long (0: never; default 60, or where clients "
	  "write and read 0, and 60 for the first message)",
	  OUR_NUMBER(timeout_s, 0, MAX_TIMEOUT) },
	{ 0 },
};

const struct our_option our_message_options[] = {
	{ "count", 'c', "N", "messages (default 1000)",
	  OUR_NUMBER(count, 1, OUR_COUNT_UNLIMITED - 1) },
	{ "duration", 'D', "SECONDS", "run for this long; with -c: whichever comes first",
	  OUR_NUMBER(duration_s, 1, UINT32_MAX) },
	{ "size", 's', "BYTES", "of a message; suffixes k, m, g are powers of 1024 (default 64)",
	  OUR_BYTES(data_size, 1, OUR_MAX_SIZE) },
	{ 0 },
};

const struct our_option our_max_clients_options[] = {
	{ "max-clients", 0, "N", "refuse clients while N are served (default 1000)",
	  OUR_NUMBER(max_clients, 1, UINT32_MAX) },
	{ 0 },
};

const struct our_option our_keepalive_options[] = {
	{ "keepalive", 0, "SECONDS",
	  "after this much silence, check whether the peer's host still answers (default 5; 0: never)",
	  OUR_NUMBER(keepalive_s, 0, UINT32_MAX) },
	{ 0 },
};

const struct our_option our_every_option[] = {
	{ "trace", 't', NULL, "show each verb called, its result and its time", SPECIAL },
	{ "trace-messages", 'T', NULL, "show each message, too", SPECIAL },
	{ "stats", 'x', NULL, "more statistics: polls, completions, switches", OUR_FLAG(stats) },
	{ "json", 'j', NULL, "results as one line of JSON (bench/results.md)", OUR_FLAG(json) },
	{ "quiet", 'q', NULL, "errors only; with -j, JSON and errors only", OUR_FLAG(quiet) },
	{ "help", 'h', NULL, "show this and exit", SPECIAL },
	{ "version", 'V', NULL, "show the version and exit", SPECIAL },
	{ 0 },
};

const struct our_option our_describe_option[] = {
	{ "describe", 0, NULL, "show what it is made of, as one line of JSON, and exit", SPECIAL },
	{ 0 },
};
