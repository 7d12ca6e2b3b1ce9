/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices: lists RDMA devices and their attributes, and says why they do not work. This is the
 * command line; the other files of this folder do the work.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "devices/devices.h"
#include "program/option_values.h"
#include "program/options.h"
#include "program/report.h"

enum action {
	SHOW,
	SHOW_JSON,
	CHECK,
	EXPLAIN
};

struct command {
	enum action action;
	const char *device;  /* NULL: all devices */
	const char *address; /* the address to check */
	const char *port;
	char what[1000]; /* the text to explain */
};

static const char help[] =
	"usage: devices [-j] [DEVICE]\n"
	"       devices --check ADDRESS [-p PORT]\n"
	"       devices --explain TEXT [--check ADDRESS]\n"
	"Shows the RDMA devices of this machine, or one of them: ports, GIDs with the addresses that they\n"
	"serve, and limits.\n"
	"  -j, --json           the same as one JSON object\n"
	"  -c, --check ADDRESS  an address of this machine, or of another that is to be reached from here:\n"
	"                       say what keeps RDMA from working with it, and what to do; '' stands for\n"
	"                       the first address here on a network device with an RDMA device\n"
	"  -e, --explain TEXT   an error: a number, the name of a code, a line that a program has printed,\n"
	"                       a file with such lines or a trace of verbs-trace, or - for stdin: say what\n"
	"                       causes it, what of that can be ruled out here, and what to do\n"
	"  -p, --port PORT      for --check: the port that a server is to listen on (default 12321)\n"
	"  -h, --help           this\n"
	"Exit status: 0 done (or nothing found that is wrong), 1 failed or nothing known, 2 wrong usage.\n";

static int wrong(const char *what)
{
	our_report_sentence("%s: see --help", what);
	return EINVAL;
}

/* Returns true if the options ask for another action already. */
static bool contradicts(struct command *command, enum action action)
{
	bool both = command->action + action == CHECK + EXPLAIN; /* explain for an address */
	bool before = command->action != SHOW && command->action != action && !both;

	command->action = both ? EXPLAIN : action;
	return before;
}

/* Returns 0, ECANCELED if --help has been answered, or EINVAL, reported. */
static int read_options(struct command *command, int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "check", required_argument, NULL, 'c' },
		{ "explain", required_argument, NULL, 'e' },
		{ "port", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool contradiction = false;
	uint64_t port;
	int letter;

	opterr = 0;
	while ((letter = getopt_long(argc, argv, "jc:e:p:h", options, NULL)) != -1) {
		switch (letter) {
		case 'j':
			contradiction |= contradicts(command, SHOW_JSON);
			break;
		case 'c':
			contradiction |= contradicts(command, CHECK);
			command->address = optarg;
			break;
		case 'e':
			contradiction |= contradicts(command, EXPLAIN);
			snprintf(command->what, sizeof(command->what), "%s", optarg);
			break;
		case 'p':
			command->port = optarg;
			if (our_parse_number(optarg, false, 1, 65535, &port))
				return wrong("-p wants a number from 1 to 65535");
			break;
		case 'h':
			fputs(help, stdout);
			return ECANCELED;
		default:
			return wrong("no such option, or its value is missing");
		}
	}
	return contradiction ? wrong("--json, --check, --explain: one at a time") : 0;
}

static int read_command(struct command *command, int argc, char **argv)
{
	int ret = read_options(command, argc, argv);

	if (ret)
		return ret;
	if (command->port && !command->address)
		return wrong("-p goes with --check");
	for (; command->action == EXPLAIN && optind < argc; optind++) /* text without quotes */
		snprintf(command->what + strlen(command->what),
			 sizeof(command->what) - strlen(command->what), " %s", argv[optind]);
	if (command->action == EXPLAIN && !*command->what)
		return wrong("--explain wants a text");
	if (command->action != CHECK && optind < argc)
		command->device = argv[optind++];
	if (optind < argc)
		return wrong("one word too many");
	if (!command->port)
		command->port = OUR_DEFAULT_PORT;
	return 0;
}

static int show(const struct command *command)
{
	struct devices devices;
	int ret = devices_open(&devices, command->device);

	if (ret == ENODEV && command->device)
		our_report_sentence("there is no RDMA device '%s'", command->device);
	else if (ret == ENODEV)
		our_report_sentence("there is no RDMA device: `devices --check ADDRESS` says how "
				    "to get one");
	if (command->action == SHOW_JSON && (!ret || ret == ENODEV))
		devices_show_json(&devices);
	else if (command->action == SHOW)
		devices_show(&devices);
	devices_close(&devices);
	return ret;
}

/* Executes the program beside this one that matches the tables. Returns an errno value, reported. */
static int explain(const struct command *command)
{
	char self[PATH_MAX - 16], script[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return our_report_error("/proc/self/exe", errno, NULL);
	self[length] = '\0';
	snprintf(script, sizeof(script), "%.*s/explain.py", (int)(strrchr(self, '/') - self), self);
	execlp("python3", "python3", script, self, command->port,
	       command->address ? command->address : "", command->what, (char *)NULL);
	return our_report_error("python3", errno, "--explain needs it");
}

int main(int argc, char **argv)
{
	struct command command = { 0 };
	int ret;

	our_set_program_name("devices");
	ret = read_command(&command, argc, argv);
	if (ret == ECANCELED)
		ret = 0;
	else if (ret)
		return OUR_EXIT_USAGE;
	else if (command.action == EXPLAIN)
		ret = explain(&command);
	else
		ret = command.action == CHECK ? devices_check(command.address, command.port)
					      : show(&command);
	if (ret == EINVAL)
		return OUR_EXIT_USAGE;
	if (fflush(stdout) || ferror(stdout))
		ret = our_report_error("writing to stdout", errno, NULL);
	return ret ? OUR_EXIT_FAILED : OUR_EXIT_DONE;
}
