/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Reading a command line. See options.h.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "program/option_values.h"
#include "program/options.h"
#include "program/report.h"
#include "program/stage.h"

#ifndef OUR_VERSION /* tools/packaging/packaging.mk adds the commit */
#define OUR_VERSION "not known"
#endif
#define MAX_OPTIONS       64
#define FIRST_LONG_OPTION 256 /* the first value for getopt_long to return, above any letter */

static int usage_error(const char *what, const char *detail)
{
	our_report_sentence("%s%s; see --help", what, detail);
	return EINVAL;
}

/* All options that a program accepts: those of its tables, and those of every program. */
struct accepted {
	int n;
	const struct our_option *options[MAX_OPTIONS];
};

static void accept_table(struct accepted *accepted, const struct our_option *option)
{
	for (; option && option->name && accepted->n < MAX_OPTIONS; option++)
		accepted->options[accepted->n++] = option;
}

static void list_accepted(const struct our_program *program, struct accepted *accepted)
{
	int i;

	accepted->n = 0;
	for (i = 0; i < OUR_MAX_TABLES; i++)
		accept_table(accepted, program->options[i]);
	accept_table(accepted, our_every_option);
	accept_table(accepted, program->made_of ? our_describe_option : NULL);
}

void our_name_program(struct our_program *program, const char *stage, const char *role)
{
	program->stage = stage;
	program->role = role;
	snprintf(program->name, sizeof(program->name), "%s/%s", stage, role);
}

void our_add_options(struct our_program *program, const struct our_option *options)
{
	int i = 0;

	while (i < OUR_MAX_TABLES - 1 && program->options[i])
		i++;
	program->options[i] = options;
}

static void show_help(const struct our_program *program)
{
	const struct our_option *option;
	struct accepted accepted;
	char left[100];
	int i;

	list_accepted(program, &accepted);
	printf("usage: %s [options]\n%s\n\n", program->name, program->summary);
	for (i = 0; i < accepted.n; i++) {
		option = accepted.options[i];
		snprintf(left, sizeof(left), "%c%c%c --%s%s%s", option->letter ? '-' : ' ',
			 option->letter ? option->letter : ' ', option->letter ? ',' : ' ',
			 option->name, option->argument ? " " : "",
			 option->argument ? option->argument : "");
		printf("  %-26s %s\n", left, option->help);
	}
	printf("\nResults go to stdout, everything else to stderr. Exit status: 0 done, 1 failed, "
	       "2 wrong usage.\n");
}

static void print_fact(const char *name, bool value)
{
	printf(", \"%s\": %s", name, value ? "true" : "false");
}

/* Prints the facts about `stage` that tests and tools for all stages need, as one line of JSON. */
static void describe(const struct our_stage *stage)
{
	const struct our_option *const *of_server = stage->server_options;

	printf("{\"stage\": \"%s\", \"cm_events\": \"%s\", \"completions\": \"%s\"", stage->name,
	       stage->waiting.cm->name, stage->waiting.completions->name);
	print_fact("negotiates",
		   stage->connect_info); /* each side knows count and size of the other */
	print_fact("serves_many", of_server[0] == our_max_clients_options ||
					  of_server[1] == our_max_clients_options);
	print_fact("loop", stage->reactions); /* the loop serves all clients */
	print_fact("sleeps", stage->sleeps);
	print_fact("notices_death", !stage->misses_end);
	print_fact("roce_only", stage->roce_only);
	print_fact("one_way", stage->one_way);
	print_fact("agent_sees", !stage->unseen);
	printf(", \"one_sided\": %d}\n", stage->one_sided);
}

/* Makes the tables for getopt_long(3); the value of a long option is its place in the list. */
static void make_getopt_tables(const struct accepted *accepted, char *letters, struct option *names)
{
	const struct our_option *option;
	int i;

	*letters++ = ':'; /* to tell a missing argument from an unknown option */
	for (i = 0; i < accepted->n; i++) {
		option = accepted->options[i];
		if (option->letter)
			*letters++ = (char)option->letter;
		if (option->letter && option->argument)
			*letters++ = ':';
		names[i] = (struct option){
			.name = option->name,
			.has_arg = option->argument ? required_argument : no_argument,
			.val = FIRST_LONG_OPTION + i,
		};
	}
	*letters = '\0';
	memset(&names[i], 0, sizeof(names[i]));
}

static int take_special(int letter, const char *argument, struct our_options *options)
{
	static const struct our_option port = { .letter = 'p', .min = 1, .max = 65535 };
	uint64_t number;

	switch (letter) {
	case 'p':
		options->port = argument;
		return our_take_number(&port, argument, &number);
	case 't':
		if (options->trace_level < OUR_TRACE_CALLS)
			options->trace_level = OUR_TRACE_CALLS;
		return 0;
	case 'T':
		options->trace_level = OUR_TRACE_MESSAGES;
		return 0;
	case 'h':
		show_help(options->program);
		return ECANCELED;
	case 'V':
		printf("%s %s\n", options->program->name, OUR_VERSION);
		return ECANCELED;
	case 0: /* the only one without a letter */
		describe(options->program->made_of);
		return ECANCELED;
	default: /* this function lacks the option */
		return usage_error("option not implemented", "");
	}
}

/* Handles what getopt_long has returned for an option that is accepted. */
static const struct our_option *option_of(const struct accepted *accepted, int letter)
{
	int i = 0;

	if (letter >= FIRST_LONG_OPTION)
		return accepted->options[letter - FIRST_LONG_OPTION];
	while (accepted->options[i]->letter != letter)
		i++;
	return accepted->options[i];
}

static void *value_of(const struct our_option *option, struct our_options *options)
{
	return option->value ? option->value : (char *)options + option->offset;
}

static int take_option(const struct our_option *option, const char *argument,
		       struct our_options *options)
{
	void *value = value_of(option, options);
	char typed[32];

	switch (option->kind) {
	case OUR_OPTION_FLAG:
		*(bool *)value = true;
		return 0;
	case OUR_OPTION_NUMBER:
	case OUR_OPTION_BYTES:
		return our_take_number(option, argument, value);
	case OUR_OPTION_TEXT:
		*(const char **)value = argument;
		return *argument ? 0
				 : usage_error("a value is wanted after ",
					       our_typed_option(option, typed, sizeof(typed)));
	case OUR_OPTION_WORD:
		return our_take_word(option, argument, value);
	default:
		return take_special(option->letter, argument, options);
	}
}

static int refuse_option(int why, char **argv)
{
	char letter[] = { '-', (char)optopt, '\0' };
	/* optopt is 0 for an unknown long option; its value if only the argument is wrong. */
	const char *typed = optopt && strncmp(argv[optind - 1], "--", 2) ? letter
									 : argv[optind - 1];

	if (why == ':')
		return usage_error("missing value after ", typed);
	return usage_error("unknown option or wrong use of it: ", typed);
}

static int check_required(const struct accepted *accepted, struct our_options *options)
{
	const struct our_option *option;
	int i;

	for (i = 0; i < accepted->n; i++) {
		option = accepted->options[i];
		if (option->kind == OUR_OPTION_TEXT && option->min &&
		    !*(const char **)value_of(option, options)) {
			our_report_sentence("-%c %s is required; see --help", option->letter,
					    option->argument);
			return EINVAL;
		}
	}
	return 0;
}

static int read_command_line(int argc, char **argv, struct our_options *options)
{
	struct option names[MAX_OPTIONS + 1];
	char letters[2 * MAX_OPTIONS + 2];
	struct accepted accepted;
	int letter, ret;

	list_accepted(options->program, &accepted);
	make_getopt_tables(&accepted, letters, names);
	opterr = 0;
	while ((letter = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		if (letter == '?' || letter == ':')
			return refuse_option(letter, argv);
		ret = take_option(option_of(&accepted, letter), optarg, options);
		if (ret)
			return ret;
	}
	if (optind < argc)
		return usage_error("no argument belongs here: ", argv[optind]);
	return check_required(&accepted, options);
}

static void set_defaults(const struct our_program *program, struct our_options *options)
{
	memset(options, 0, sizeof(*options));
	options->program = program;
	options->port = OUR_DEFAULT_PORT;
	options->clients = 1;
	options->max_clients = OUR_DEFAULT_CLIENTS;
	options->timeout_s = program->timeout_s;
	options->keepalive_s = OUR_DEFAULT_KEEPALIVE;
	options->data_size = OUR_DEFAULT_SIZE;
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
	if (!options->count)
		options->count = options->duration_s ? OUR_COUNT_UNLIMITED : OUR_DEFAULT_COUNT;
	ret = our_trace(options->trace_level, argc, argv);
	if (ret)
		return ret;
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
