/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Miscellaneous layer: reading a command line. See options.h.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "program/addresses.h"
#include "program/numbers.h"
#include "program/option_table.h"
#include "program/options.h"
#include "program/report.h"

#define OUR_VERSION "0.1"

static int usage_error(const char *what, const char *detail)
{
	our_report_sentence("%s%s; see --help", what, detail);
	return EINVAL;
}

static bool has_letter(const struct our_option_row *row)
{
	return row->letter < OUR_FIRST_LONG_OPTION;
}

static void show_help(const struct our_program *program)
{
	const struct our_option_row *row;
	char left[40];

	printf("usage: %s [options]\n%s\n\n", program->name, program->summary);
	for (row = our_option_table; row < our_option_table + OUR_OPTION_ROWS; row++) {
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
	const struct our_option_row *row;

	*letters++ = ':'; /* tell a missing argument from an unknown option */
	for (row = our_option_table; row < our_option_table + OUR_OPTION_ROWS; row++) {
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

static int take_number(const struct our_option_row *row, const char *text, uint64_t *value)
{
	bool suffixes = row->kind == OUR_KIND_BYTES;
	int ret = our_parse_number(text, suffixes, row->min, row->max, value);
	char option[32];

	if (has_letter(row))
		snprintf(option, sizeof(option), "-%c", row->letter);
	else
		snprintf(option, sizeof(option), "--%s", row->name);
	if (ret == EINVAL)
		our_report_sentence("%s takes a number%s, not '%s'; see --help", option,
				    suffixes ? " (suffix k, m or g)" : "", text);
	else if (ret == ERANGE)
		our_report_sentence("%s takes a number from %" PRIu64 " to %" PRIu64
				    ", not %s; see --help",
				    option, row->min, row->max, text);
	return ret ? EINVAL : 0;
}

static int take_special(int letter, const char *argument, struct our_options *options)
{
	static const struct our_option_row port = { .letter = 'p', .min = 1, .max = 65535 };
	uint64_t number;

	switch (letter) {
	case 'a':
		options->address = argument;
		return *argument ? 0 : usage_error("-a takes an address", "");
	case 'p':
		options->port = argument;
		return take_number(&port, argument, &number);
	case 't':
		if (options->trace_level < VERBS_TRACE_CALLS)
			options->trace_level = VERBS_TRACE_CALLS;
		return 0;
	case 'T':
		options->trace_level = VERBS_TRACE_MESSAGES;
		return 0;
	case 'h':
		show_help(options->program);
		return ECANCELED;
	case 'V':
		printf("%s %s\n", options->program->name, OUR_VERSION);
		return ECANCELED;
	default: /* a row of the table that this function forgot */
		return usage_error("option not implemented", "");
	}
}

static const struct our_option_row *row_of(int letter, uint32_t accepts)
{
	const struct our_option_row *row = our_option_table;

	while (row->letter != letter || !(row->bit & accepts))
		row++;
	return row;
}

static int take_option(int letter, const char *argument, struct our_options *options)
{
	const struct our_option_row *row = row_of(letter, options->program->accepts);
	char *member = (char *)options + row->offset;

	options->given |= row->bit;
	switch (row->kind) {
	case OUR_KIND_FLAG:
		*(bool *)member = true;
		return 0;
	case OUR_KIND_NUMBER:
	case OUR_KIND_BYTES:
		return take_number(row, argument, (uint64_t *)(void *)member);
	default:
		return take_special(letter, argument, options);
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

static int read_command_line(int argc, char **argv, struct our_options *options)
{
	struct option names[OUR_OPTION_ROWS + 1];
	char letters[2 * OUR_OPTION_ROWS + 2];
	int letter, ret;

	make_getopt_tables(options->program->accepts, letters, names);
	opterr = 0;
	while ((letter = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		if (letter == '?' || letter == ':')
			return refuse_option(letter, argv);
		ret = take_option(letter, optarg, options);
		if (ret)
			return ret;
	}
	if (optind < argc)
		return usage_error("no argument belongs here: ", argv[optind]);
	return 0;
}

static void set_defaults(const struct our_program *program, struct our_options *options)
{
	memset(options, 0, sizeof(*options));
	options->program = program;
	options->port = OUR_DEFAULT_PORT;
	options->clients = 1;
	options->data_size = OUR_DEFAULT_SIZE;
	options->max_count = OUR_COUNT_UNLIMITED;
	options->max_size = OUR_DEFAULT_MAX_SIZE;
	options->max_memory = OUR_DEFAULT_MAX_MEMORY;
	options->inline_size = OUR_DEFAULT_INLINE;
	options->sge = 1;
	if (program->accepts & OUR_OPT_BUFFERS)
		options->buffers = OUR_DEFAULT_BUFFERS;
	if (program->accepts & OUR_OPT_MAX_BUFFERS)
		options->max_buffers = OUR_DEFAULT_MAX_BUFFERS;
}

int our_process_options(int argc, char **argv, const struct our_program *program,
			struct our_options *options)
{
	int ret;

	our_set_program_name(program->name);
	set_defaults(program, options);
	ret = read_command_line(argc, argv, options);
	if (ret)
		return ret;
	if ((program->accepts & OUR_OPT_PEER_ADDRESS) && !options->address)
		return usage_error("-a with the server's address is required", "");
	if (!options->count)
		options->count = options->duration_s ? OUR_COUNT_UNLIMITED : OUR_DEFAULT_COUNT;
	verbs_trace_start(options->trace_level, program->name);
	return our_look_up_addresses(options->address, options->port, &options->addresses);
}

void our_unprocess_options(struct our_options *options)
{
	our_free_addresses(options->addresses);
	options->addresses = NULL;
}

int our_options_exit_status(int error)
{
	switch (error) {
	case ECANCELED:
		return OUR_EXIT_DONE;
	case EAGAIN:
		return OUR_EXIT_FAILED;
	default:
		return OUR_EXIT_USAGE;
	}
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
