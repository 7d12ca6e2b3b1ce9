/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Miscellaneous layer: the table of options, and reading a command line by it. See options.h.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "common/addresses.h"
#include "common/clock.h"
#include "common/numbers.h"
#include "common/options.h"
#include "common/report.h"

#define OUR_VERSION "0.1"

/* Options that have no letter. */
enum {
	LONG_TIMEOUT = 256,
	LONG_MAX_COUNT,
	LONG_MAX_SIZE,
	LONG_RATE,
};

struct option_row {
	uint32_t bit;
	int letter; /* or one of the above */
	const char *name;
	const char *argument; /* NULL: takes none */
	const char *text;
};

static const struct option_row option_table[] = {
	{ OUR_OPT_PEER_ADDRESS, 'a', "address", "ADDRESS",
	  "of the server: IPv4, IPv6 or a name (required)" },
	{ OUR_OPT_BIND_ADDRESS, 'a', "address", "ADDRESS",
	  "to listen on: IPv4, IPv6 or a name (default: any)" },
	{ OUR_OPT_PORT, 'p', "port", "PORT", "of the server, 1 to 65535 (default 12321)" },
	{ OUR_OPT_CLIENTS, 'n', "clients", "N",
	  "serve N clients, then leave (default 1; 0: until interrupted)" },
	{ OUR_OPT_COUNT, 'c', "count", "N", "messages (default 1000)" },
	{ OUR_OPT_DURATION, 'D', "duration", "SECONDS",
	  "run for so long; with -c, until the first of the two" },
	{ OUR_OPT_SIZE, 's', "size", "BYTES",
	  "of a message; suffixes k, m, g are powers of 1024 (default 64)" },
	{ OUR_OPT_VERIFY, 'v', "verify", NULL, "compare every byte that comes back" },
	{ OUR_OPT_WAIT, 'w', "wait", "SECONDS", "keep trying for so long until the server is up" },
	{ OUR_OPT_MAX_COUNT, LONG_MAX_COUNT, "max-count", "N",
	  "refuse a client that wants to send more messages (default 10^12)" },
	{ OUR_OPT_MAX_SIZE, LONG_MAX_SIZE, "max-size", "BYTES",
	  "refuse a client whose messages are larger (default 16m)" },
	{ OUR_OPT_RATE, LONG_RATE, "rate", "N", "send N messages a second (default: all it can)" },
	{ OUR_OPT_TIMEOUT, LONG_TIMEOUT, "timeout", "SECONDS",
	  "give up when the peer says nothing for so long (default: never)" },
	{ OUR_OPT_TRACE, 't', "trace", NULL, "show each verb called, its result and its time" },
	{ OUR_OPT_TRACE_MESSAGES, 'T', "trace-messages", NULL, "show each message, too" },
	{ OUR_OPT_STATS, 'x', "stats", NULL, "more statistics: polls, completions, switches" },
	{ OUR_OPT_JSON, 'j', "json", NULL, "results as one line of JSON (docs/results.md)" },
	{ OUR_OPT_QUIET, 'q', "quiet", NULL, "errors only; with -j, JSON and errors only" },
	{ OUR_OPT_HELP, 'h', "help", NULL, "show this and leave" },
	{ OUR_OPT_VERSION, 'V', "version", NULL, "show the version and leave" },
};

#define OPTION_ROWS (sizeof(option_table) / sizeof(option_table[0]))

static int usage_error(const char *what, const char *detail)
{
	our_report_sentence("%s%s; see --help", what, detail);
	return EINVAL;
}

static bool has_letter(const struct option_row *row)
{
	return row->letter < LONG_TIMEOUT;
}

static void show_help(const struct our_program *program)
{
	const struct option_row *row;
	char left[40];

	printf("usage: %s [options]\n%s\n\n", program->name, program->summary);
	for (row = option_table; row < option_table + OPTION_ROWS; row++) {
		if (!(program->accepts & row->bit))
			continue;
		snprintf(left, sizeof(left), "%c%c%c --%s%s%s", has_letter(row) ? '-' : ' ',
			 has_letter(row) ? row->letter : ' ', has_letter(row) ? ',' : ' ',
			 row->name, row->argument ? " " : "", row->argument ? row->argument : "");
		printf("  %-26s %s\n", left, row->text);
	}
	printf("\nResults go to stdout, all else to stderr. Exit status: 0 done, 1 failed, "
	       "2 wrong usage.\n");
}

/* What getopt_long(3) wants to know of the rows that the program accepts. */
static void make_getopt_tables(uint32_t accepts, char *letters, struct option *names)
{
	const struct option_row *row;

	*letters++ = ':'; /* tell a missing argument from an unknown option */
	for (row = option_table; row < option_table + OPTION_ROWS; row++) {
		if (!(accepts & row->bit))
			continue;
		if (has_letter(row))
			*letters++ = (char)row->letter;
		if (has_letter(row) && row->argument)
			*letters++ = ':';
		*names++ = (struct option){
			.name = row->name,
			.has_arg = row->argument ? required_argument : no_argument,
			.val = row->letter,
		};
	}
	*letters = '\0';
	memset(names, 0, sizeof(*names));
}

static int take_number(const char *option, const char *text, bool suffixes, uint64_t min,
		       uint64_t max, uint64_t *value)
{
	int ret = our_parse_number(text, suffixes, min, max, value);

	if (ret == EINVAL)
		our_report_sentence("%s takes a number%s, not '%s'; see --help", option,
				    suffixes ? " (suffix k, m or g)" : "", text);
	else if (ret == ERANGE)
		our_report_sentence("%s takes a number from %llu to %llu, not %s; see --help",
				    option, (unsigned long long)min, (unsigned long long)max, text);
	return ret ? EINVAL : 0;
}

static int take_flag(int letter, struct our_options *options)
{
	switch (letter) {
	case 'v':
		options->verify = true;
		return 0;
	case 't':
		if (options->trace_level < OUR_TRACE_VERBS)
			options->trace_level = OUR_TRACE_VERBS;
		return 0;
	case 'T':
		options->trace_level = OUR_TRACE_MESSAGES;
		return 0;
	case 'x':
		options->stats = true;
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	default: /* a row of the table that this function forgot */
		return usage_error("option not implemented", "");
	}
}

static int take_option(int letter, const char *argument, struct our_options *options)
{
	uint64_t port;

	switch (letter) {
	case 'a':
		options->address = argument;
		return *argument ? 0 : usage_error("-a takes an address", "");
	case 'p':
		options->port = argument;
		return take_number("-p", argument, false, 1, 65535, &port);
	case 'n':
		return take_number("-n", argument, false, 0, UINT32_MAX, &options->clients);
	case 'c':
		return take_number("-c", argument, false, 1, OUR_COUNT_UNLIMITED - 1,
				   &options->count);
	case 'D':
		return take_number("-D", argument, false, 1, UINT32_MAX, &options->duration_s);
	case 's':
		return take_number("-s", argument, true, 1, OUR_MAX_SIZE, &options->data_size);
	case 'w':
		return take_number("-w", argument, false, 0, UINT32_MAX, &options->wait_s);
	case LONG_TIMEOUT:
		return take_number("--timeout", argument, false, 1, INT32_MAX / 1000,
				   &options->timeout_s);
	case LONG_RATE:
		return take_number("--rate", argument, false, 1, OUR_NS_PER_S, &options->rate);
	case LONG_MAX_COUNT:
		return take_number("--max-count", argument, false, 1, OUR_COUNT_UNLIMITED,
				   &options->max_count);
	case LONG_MAX_SIZE:
		return take_number("--max-size", argument, true, 1, OUR_MAX_SIZE,
				   &options->max_size);
	case 'h':
		show_help(options->program);
		return ECANCELED;
	case 'V':
		printf("%s %s\n", options->program->name, OUR_VERSION);
		return ECANCELED;
	default:
		return take_flag(letter, options);
	}
}

static int refuse_option(int why, char **argv)
{
	char letter[] = { '-', (char)optopt, '\0' };
	/* For a long option optopt is 0, or its letter when it lacks or has an argument wrongly. */
	const char *typed = optopt && strncmp(argv[optind - 1], "--", 2) ? letter
									 : argv[optind - 1];

	if (why == ':')
		return usage_error("missing value after ", typed);
	return usage_error("unknown option or wrong use of it: ", typed);
}

static uint32_t bit_of(int letter)
{
	uint32_t bits = 0;
	size_t i;

	for (i = 0; i < OPTION_ROWS; i++) {
		if (option_table[i].letter == letter)
			bits |= option_table[i].bit;
	}
	return bits;
}

static int read_command_line(int argc, char **argv, struct our_options *options)
{
	struct option names[OPTION_ROWS + 1];
	char letters[2 * OPTION_ROWS + 2];
	int letter, ret;

	make_getopt_tables(options->program->accepts, letters, names);
	opterr = 0;
	while ((letter = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		if (letter == '?' || letter == ':')
			return refuse_option(letter, argv);
		ret = take_option(letter, optarg, options);
		if (ret)
			return ret;
		options->given |= bit_of(letter) & options->program->accepts;
	}
	if (optind < argc)
		return usage_error("no argument belongs here: ", argv[optind]);
	return 0;
}

int our_process_options(int argc, char **argv, const struct our_program *program,
			struct our_options *options)
{
	int ret;

	our_set_program_name(program->name);
	memset(options, 0, sizeof(*options));
	options->program = program;
	options->port = OUR_DEFAULT_PORT;
	options->clients = 1;
	options->data_size = OUR_DEFAULT_SIZE;
	options->max_count = OUR_COUNT_UNLIMITED;
	options->max_size = OUR_DEFAULT_MAX_SIZE;

	ret = read_command_line(argc, argv, options);
	if (ret)
		return ret;
	if ((program->accepts & OUR_OPT_PEER_ADDRESS) && !options->address)
		return usage_error("-a with the server's address is required", "");
	if (!options->count)
		options->count = options->duration_s ? OUR_COUNT_UNLIMITED : OUR_DEFAULT_COUNT;
	our_set_trace_level(options->trace_level);
	return our_look_up_addresses(options->address, options->port, &options->addresses);
}

void our_unprocess_options(struct our_options *options)
{
	our_free_addresses(options->addresses);
	options->addresses = NULL;
}

int our_exit_status(int error)
{
	switch (error) {
	case 0:
	case EINTR:
		return OUR_EXIT_DONE;
	case EMSGSIZE:
		return OUR_EXIT_USAGE;
	default:
		return OUR_EXIT_FAILED;
	}
}
