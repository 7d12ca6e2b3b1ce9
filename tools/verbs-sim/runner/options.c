/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The command line. See runner.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs-sim/device/devices.h"
#include "verbs-sim/runner/runner.h"

#define LIBRARY     "libverbs-sim.so"
#define PATH_LENGTH 500

#ifndef OUR_VERSION /* install/install.mk adds the commit */
#define OUR_VERSION "not known"
#endif

static int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int refuse(const char *format, ...)
{
	va_list arguments;

	fputs("verbs-sim: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputs("; see verbs-sim --help\n", stderr);
	return SIM_EXIT_USAGE;
}

/* Returns true if the whole text is a number. */
static bool read_number(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool read_seeds(char *text, struct sim_options *options)
{
	char *last = strchr(text, '-');

	options->seed = 1;
	if (last) {
		*last++ = '\0';
		if (!read_number(text, &options->seed))
			return false;
	}
	return read_number(last ? last : text, &options->last_seed) &&
	       options->seed <= options->last_seed;
}

static bool read_small(const char *text, int *value)
{
	uint64_t number;

	if (!read_number(text, &number) || number > 1000000)
		return false;
	*value = (int)number;
	return true;
}

const char *const sim_strategies[SIM_STRATEGIES] = { "random", "pct", "mixed", "busy" };

const char *const sim_leaks_ways[SIM_LEAKS_WAYS] = { "fail", "report", "ignore" };

/* Returns the index of the argument among these words; `n`: it is none of them. */
static int find_word(const char *const *words, int n)
{
	int i;

	for (i = 0; i < n && strcmp(words[i], optarg); i++)
		;
	return i;
}

static int read_device(const char *text, struct sim_options *options)
{
	struct sim_device device;
	const char *wrong;

	if (options->n_devices == SIM_MOST_DEVICES)
		return refuse("more than %d devices", SIM_MOST_DEVICES);
	wrong = sim_read_device(text, options->n_devices, &device);
	options->devices[options->n_devices++] = text;
	return wrong ? refuse("--device %s: %s is wrong", text, wrong) : 0;
}

static int read_fault(struct sim_options *options)
{
	if (options->n_faults == SIM_MOST_FAULTS - 1) /* one is for --sweep */
		return refuse("more than %d times --fail", SIM_MOST_FAULTS - 1);
	return sim_read_fault(optarg, &options->faults[options->n_faults++])
		       ? 0
		       : refuse("--fail %s: not SIDE:[CALL:]N[:HOW]", optarg);
}

static int read_choices(struct sim_options *options)
{
	int wrong = sim_read_choices(optarg, &options->choices);

	options->choices_file = optarg;
	if (wrong < 0)
		return refuse("--choices %s: %s", optarg, strerror(errno));
	return wrong ? refuse("--choices %s: line %d is wrong", optarg, wrong) : 0;
}

static int read_option(int option, struct sim_options *options)
{
	struct sim_fault fault;
	int seconds;

	switch (option) {
	case 's':
		if (!read_number(optarg, &options->seed))
			return refuse("--seed %s: no number", optarg);
		options->last_seed = options->seed;
		return 0;
	case 'S':
		return read_seeds(optarg, options) ? 0 : refuse("--seeds %s: no range", optarg);
	case 'i':
		return read_device("iwarp", options);
	case 'd':
		return read_device(optarg, options);
	case 'y':
		options->strategy = find_word(sim_strategies, SIM_STRATEGIES);
		return options->strategy < SIM_STRATEGIES
			       ? 0
			       : refuse("--strategy %s: random, pct, busy or mixed", optarg);
	case 'k':
		options->leaks = (enum sim_leaks)find_word(sim_leaks_ways, SIM_LEAKS_WAYS);
		return options->leaks < SIM_LEAKS_WAYS
			       ? 0
			       : refuse("--leaks %s: fail, report or ignore", optarg);
	case 'f':
		return read_fault(options);
	case 'w':
		options->sweep = optarg;
		return sim_read_sweep(optarg, 1, &fault) || sim_sweeps_messages(optarg, &fault)
			       ? 0
			       : refuse("--sweep %s: not S[:HOW], nor S:message", optarg);
	case 'a':
		return sim_allow(options, optarg)
			       ? 0
			       : refuse("--allow %s: none of%s", optarg, SIM_FINDINGS);
	case 'e':
		return sim_expect(options, optarg) ? 0
						   : refuse("--expect %s: not S:STATUS", optarg);
	case 'n':
		options->says_servers = true;
		return read_small(optarg, &options->servers)
			       ? 0
			       : refuse("--servers %s: no number", optarg);
	case 't':
		options->trace = true;
		return 0;
	case 'x':
		options->strict = true;
		return 0;
	case 'u':
		options->users = true;
		return 0;
	case 'g':
		return read_small(optarg, &options->gdb) ? 0
							 : refuse("--gdb %s: no number", optarg);
	case 'l':
		return read_small(optarg, &options->limit_s)
			       ? 0
			       : refuse("--limit %s: no number", optarg);
	case 'p':
		if (!read_small(optarg, &seconds))
			return refuse("--patience %s: no number", optarg);
		options->patience_ns = (uint64_t)seconds * 1000000000;
		return 0;
	case 'P':
		return read_small(optarg, &options->cpus) && options->cpus
			       ? 0
			       : refuse("--cpus %s: no number from 1 on", optarg);
	case 'Q':
		return read_small(optarg, &options->quantum_us) && options->quantum_us
			       ? 0
			       : refuse("--quantum %s: no number from 1 on", optarg);
	case 'W':
		return read_small(optarg, &options->workers) && options->workers <= SIM_MOST_WORKERS
			       ? 0
			       : refuse("--workers %s: no number up to %d", optarg,
					SIM_MOST_WORKERS);
	case 'j':
		options->junit = optarg;
		return 0;
	case 'C':
		options->coverage = true;
		return 0;
	case 'c':
		return read_choices(options);
	case 'r':
		options->shrink = optarg ? optarg : "shrunk";
		return 0;
	case 'T':
		options->steps = optarg;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case 'A':
		options->apart = true;
		return 0;
	case 'v':
		puts("verbs-sim " OUR_VERSION);
		return -1;
	case 'h':
		sim_print_usage();
		return -1;
	default:
		return refuse("this is no option");
	}
}

/* Splits the words after the options at each ":::". */
static int read_programs(char **words, struct sim_options *options)
{
	int i, begin = 0;

	options->words = words;
	if (options->steps && !*words)
		return 0;
	options->programs = calloc(SIM_MOST_PROGRAMS, sizeof(*options->programs));
	if (!options->programs)
		return refuse("out of memory");
	for (i = 0;; i++) {
		if (words[i] && strcmp(words[i], ":::"))
			continue;
		if (i == begin)
			return refuse("no program%s", options->n_programs ? " behind :::" : "");
		if (options->n_programs == SIM_MOST_PROGRAMS)
			return refuse("more than %d programs", SIM_MOST_PROGRAMS);
		options->programs[options->n_programs] =
			calloc((size_t)(i - begin) + 1, sizeof(char *));
		if (!options->programs[options->n_programs])
			return refuse("out of memory");
		memcpy(options->programs[options->n_programs++], words + begin,
		       (size_t)(i - begin) * sizeof(char *));
		if (!words[i])
			return 0;
		begin = i + 1;
	}
}

/*
 * The loader splits LD_PRELOAD at spaces and colons. A library whose path has one gets the name of an
 * open descriptor of the runner, which lives as long as the programs.
 */
static int name_by_descriptor(char *path, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return refuse("%s: %s", path, strerror(errno));
	snprintf(path, size, "/proc/%d/fd/%d", getpid(), fd);
	return 0;
}

/*
 * The loader copies the path into the heap of each program, and with other addresses a program may do
 * other things. So that a run is the same in each folder, all paths have one length.
 */
static void lengthen(char *path)
{
	size_t length = strlen(path), more = length < PATH_LENGTH ? PATH_LENGTH - length : 0;

	memmove(path + more, path, length + 1);
	memset(path, '/', more);
}

/*
 * Looks for the library beside this program, where both are built, or in PREFIX/lib/verbs-sim if
 * the program is installed in PREFIX/bin.
 */
static int find_library(struct sim_options *options)
{
	static const char *const places[] = { "", "../lib/verbs-sim/" };
	static char path[PATH_MAX];
	char self[PATH_MAX - 64];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t i;

	if (length < 0)
		return refuse("/proc/self/exe: %s", strerror(errno));
	self[length] = '\0';
	*(strrchr(self, '/') + 1) = '\0';
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s%s%s", self, places[i], LIBRARY);
		options->library = path;
		if (access(path, R_OK))
			continue;
		if (strpbrk(path, " :") && name_by_descriptor(path, sizeof(path)))
			return SIM_EXIT_USAGE;
		lengthen(path);
		return 0;
	}
	return refuse("there is no %s beside %s", LIBRARY, self);
}

bool sim_lacks_device(const struct sim_options *options, const char *name)
{
	struct sim_device device;
	uint32_t i;

	for (i = 0; i < options->n_devices; i++) {
		sim_read_device(options->devices[i], i, &device);
		if (!strcmp(device.name, name))
			return false;
	}
	return *name && (options->n_devices || strcmp(name, "rxe0"));
}

/* A fault at a call that is not counted would never come to pass, nor one of a device that is not there. */
static int check_faults(const struct sim_options *options)
{
	const struct sim_fault *fault;

	for (fault = options->faults; fault < options->faults + options->n_faults; fault++) {
		if (sim_lacks_device(options, fault->device))
			return refuse("--fail %s: there is no device %s", fault->text,
				      fault->device);
		if (*fault->call && fault->kind != SIM_FAULT_CHANGE &&
		    !sim_counts_call(options->library, fault->call))
			return refuse("--fail %s: no call %s is counted", fault->text, fault->call);
	}
	return 0;
}

int sim_read_options(int argc, char **argv, struct sim_options *options)
{
	static const struct option names[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "seeds", required_argument, NULL, 'S' },
		{ "iwarp", no_argument, NULL, 'i' },
		{ "strategy", required_argument, NULL, 'y' },
		{ "device", required_argument, NULL, 'd' },
		{ "fail", required_argument, NULL, 'f' },
		{ "steps", required_argument, NULL, 'T' },
		{ "coverage", no_argument, NULL, 'C' },
		{ "choices", required_argument, NULL, 'c' },
		{ "shrink", optional_argument, NULL, 'r' },
		{ "sweep", required_argument, NULL, 'w' },
		{ "leaks", required_argument, NULL, 'k' },
		{ "allow", required_argument, NULL, 'a' },
		{ "expect", required_argument, NULL, 'e' },
		{ "cpus", required_argument, NULL, 'P' },
		{ "quantum", required_argument, NULL, 'Q' },
		{ "workers", required_argument, NULL, 'W' },
		{ "junit", required_argument, NULL, 'j' },
		{ "servers", required_argument, NULL, 'n' },
		{ "apart", no_argument, NULL, 'A' },
		{ "trace", no_argument, NULL, 't' },
		{ "strict", no_argument, NULL, 'x' },
		{ "users", no_argument, NULL, 'u' },
		{ "gdb", required_argument, NULL, 'g' },
		{ "limit", required_argument, NULL, 'l' },
		{ "patience", required_argument, NULL, 'p' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "version", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option, ret;

	*options = (struct sim_options){

		.seed = 1, .last_seed = 1, .gdb = -1, .limit_s = 60, .quantum_us = 3000
	};
	options->patience_ns = SIM_PATIENCE_NS;
	while ((option = getopt_long(argc, argv, "+qh", names, NULL)) != -1) {
		ret = read_option(option, options);
		if (ret)
			return ret;
	}
	ret = read_programs(argv + optind, options);
	if (!options->says_servers) /* a program that runs alone is no server */
		options->servers = options->n_programs != 1 || options->steps;
	if (!ret && options->workers && !options->cpus)
		return refuse("--workers without --cpus");
	ret = ret ? ret : find_library(options);
	if (!ret && options->shrink &&
	    (options->sweep || options->steps || options->junit || options->coverage ||
	     options->gdb >= 0))
		return refuse("--shrink with --sweep, --steps, --junit, --coverage or --gdb");
	return ret ? ret : check_faults(options);
}
