/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The command line. See runner.h.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs-sim/device/devices.h"
#include "verbs-sim/runner/runner.h"

#define LIBRARY "libverbs-sim.so"

static void usage(FILE *file)
{
	fputs("usage: verbs-sim [OPTION...] -- PROGRAM [ARGUMENT...] [::: PROGRAM [ARGUMENT...]]...\n"
	      "       verbs-sim [OPTION...] --steps FILE [-- PROGRAM [ARGUMENT...]...]\n"
	      "Runs programs of librdmacm and libibverbs on a simulated device, each when the one before it\n"
	      "sleeps. The same seed is the same run.\n"
	      "  --seed N         choose the order of events by this number (default 1)\n"
	      "  --seeds N        run with the seeds 1 to N, and stop at the first that fails\n"
	      "  --seeds M-N      the same, from M on\n"
	      "  --strategy S     random (the default): at any call any thread may go on; pct: few changes, so\n"
	      "                   that one thread may wait for long; busy: random, but now and then\n"
	      "                   one is held up; mixed: pct if the seed is odd, otherwise busy\n"
	      "  --iwarp          a device like soft-iWARP; without it, one like soft-RoCE\n"
	      "  --device KIND[,NAME=VALUE]...  a device: see README.md. May be given more than once\n"
	      "  --fail S:CALL:N  the Nth call of this name fails that program S (0, 1, ...) makes, or the Nth\n"
	      "                   command of the kernel, such as CREATE_QP\n"
	      "  --fail S:N       the Nth of all that it and its libraries ask: see --trace\n"
	      "  --fail S:N:HOW   in this way, such as ENOMEM, or 0 (errno is 0 then); or HOW is a signal\n"
	      "                   (SIGTERM), an asynchronous event (PORT_ERR), an event of the connection\n"
	      "                   manager (REJECTED=8), the status of the next completion (RETRY_EXC_ERR),\n"
	      "                   or REMOVAL of all devices; SILENCE of the program's host; FULL stdout. May\n"
	      "                   be given more than once\n"
	      "  --strict         report what a program does wrong, and the device puts up with\n"
	      "  --steps FILE     do what its lines say, one after the other (-: stdin; each is answered on\n"
	      "                   stdout): start [<FILE] [>FILE] [2>FILE] PROGRAM [ARGUMENT...];\n"
	      "                   until S out|err TIMES TEXT; wait SECONDS [S]; signal S SIGNAL; look; end\n"
	      "  --sweep S[:HOW]  a run for each call of program S, in which it fails, or HOW happens at it;\n"
	      "                   reports the runs in which a program did not end by itself, crashed, or left\n"
	      "                   something over\n"
	      "  --servers N      the first N programs are servers, which may run until they are told to\n"
	      "                   stop (default 1); of any other that is a failure\n"
	      "  --trace          print each call on stderr, with its simulated time, program and number\n"
	      "  --users          programs may become those of other users, as root's runner lets them: copy\n"
	      "                   messages between their memories for them\n"
	      "  --gdb S          run program S in gdb(1)\n"
	      "  --limit SECONDS  of real time in which a program has to make a call (default 60)\n"
	      "  --patience SECONDS  of simulated time after which programs that go on are told to\n"
	      "                   stop, with SIGTERM, as they are when all sleep forever (default 7200)\n"
	      "  -q, --quiet      with --seeds and --sweep, print the line of runs that fail, and the last\n"
	      "  -h, --help       print this text\n"
	      "Exit status: 0, or that of the first program that failed (128+N: signal N); 2: wrong usage;\n"
	      "120: a program did not end by itself; 121: something was left over; 122: a call that is not\n"
	      "simulated; 123: a program that makes no call; 124: a program does wrong, and nothing tells it;\n"
	      "125: the simulation cannot go on; 127: no such program.\n",
	      file);
}

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

/* The whole text is a number. */
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

static int read_strategy(struct sim_options *options)
{
	int i;

	for (i = 0; i < SIM_STRATEGIES; i++) {
		if (strcmp(sim_strategies[i], optarg))
			continue;
		options->strategy = i;
		return 0;
	}
	return refuse("--strategy %s: random, pct, busy or mixed", optarg);
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
	if (options->n_faults == SIM_MOST_FAULTS)
		return refuse("more than %d times --fail", SIM_MOST_FAULTS);
	return sim_read_fault(optarg, &options->faults[options->n_faults++])
		       ? 0
		       : refuse("--fail %s: not SIDE:[CALL:]N[:HOW]", optarg);
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
		return read_strategy(options);
	case 'f':
		return read_fault(options);
	case 'w':
		options->sweep = optarg;
		return sim_read_sweep(optarg, 1, &fault)
			       ? 0
			       : refuse("--sweep %s: not S[:HOW]", optarg);
	case 'n':
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
	case 'T':
		options->steps = optarg;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case 'h':
		usage(stdout);
		return -1;
	default:
		return refuse("this is no option");
	}
}

/* Splits the words behind the options at each ":::". */
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
 * Beside this program, where it is built, or in PREFIX/lib/verbs-sim if it is installed in
 * PREFIX/bin.
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
		if (!access(path, R_OK))
			return strpbrk(path, " :")
				       ? refuse("the path %s has a space or a colon", path)
				       : 0;
	}
	return refuse("there is no %s beside %s", LIBRARY, self);
}

/* A fault at a call that is not counted would never come to pass. */
static int check_calls(const struct sim_options *options)
{
	const struct sim_fault *fault;

	for (fault = options->faults; fault < options->faults + options->n_faults; fault++) {
		if (*fault->call && !sim_counts_call(options->library, fault->call))
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
		{ "sweep", required_argument, NULL, 'w' },
		{ "servers", required_argument, NULL, 'n' },
		{ "trace", no_argument, NULL, 't' },
		{ "strict", no_argument, NULL, 'x' },
		{ "users", no_argument, NULL, 'u' },
		{ "gdb", required_argument, NULL, 'g' },
		{ "limit", required_argument, NULL, 'l' },
		{ "patience", required_argument, NULL, 'p' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option, ret;

	*options = (struct sim_options){
		.seed = 1, .last_seed = 1, .servers = 1, .gdb = -1, .limit_s = 60
	};
	options->patience_ns = 7200 * 1000000000ull;
	while ((option = getopt_long(argc, argv, "+qh", names, NULL)) != -1) {
		ret = read_option(option, options);
		if (ret)
			return ret;
	}
	ret = read_programs(argv + optind, options);
	ret = ret ? ret : find_library(options);
	return ret ? ret : check_calls(options);
}
