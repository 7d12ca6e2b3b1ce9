/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace: reads the options, and executes the program in its own process, with the shared
 * object preloaded. So the program's process id, signals, files and exit status are as without
 * verbs-trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "verbs-trace/tool/settings.h"

#define LIBRARY "libverbs-trace.so"
#define PICTURE "picture/picture.py"
#define HIGH    1000
#ifndef OUR_VERSION /* tools/packaging/packaging.mk adds the commit */
#define OUR_VERSION "not known"
#endif

static char wanted[PATH_MAX + 1024]; /* the settings, in the form of SETTINGS_VARIABLE */

static void usage(FILE *file)
{
	fputs("usage: verbs-trace [OPTION...] PROGRAM [ARGUMENT...]\n"
	      "       verbs-trace --html OUT.html [--packets FILE] TRACE.json...\n"
	      "Runs the program and prints each call into librdmacm and libibverbs on stderr.\n"
	      "  -c          print only a summary of the calls, at the end\n"
	      "  -e WORDS    print only verbs with one of these words in their names, such as\n"
	      "              -e create,modify,post; a word that begins with ! leaves verbs out\n"
	      "  -f          also trace child processes, and programs that these execute\n"
	      "  -i          also print which functions led to a call, as OBJECT+OFFSET for addr2line(1)\n"
	      "  -j          print JSON, one object on each line (tools/verbs-trace/json.md)\n"
	      "  -k          print only what follows the first error\n"
	      "  -l LABEL    begin each line with LABEL and a colon\n"
	      "  -n          also print the calls that the libraries make to each other, indented\n"
	      "  -o FILE     write to FILE, which is emptied first\n"
	      "  -p          decode private data that follows docs/protocol.md\n"
	      "  -q          print set-up, tear-down and errors, and of posting, polling and the like the\n"
	      "              first call on each queue\n"
	      "  -s BYTES    print this many bytes of strings and binary data (default 32)\n"
	      "  -w          also print waits in poll(2), select(2), epoll_wait(2) and the like\n"
	      "  --html OUT  draw traces of several programs, written with -j, on one HTML page\n"
	      "  -h, -V      print this text, or the version\n"
	      "Exit status: the program's; 2 for wrong usage; 126 if the program cannot be run; 127 if it is\n"
	      "not found.\n",
	      file);
}

static int fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(int status, const char *format, ...)
{
	va_list arguments;

	fputs("verbs-trace: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return status;
}

static void want(char letter, const char *value)
{
	size_t length = strlen(wanted);

	snprintf(wanted + length, sizeof(wanted) - length, "%c%s\n", letter, value);
}

/* The file is emptied here, once; each process then appends to it. */
static int want_file(const char *path)
{
	char full[PATH_MAX];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		return fail(2, "-o %s: %s", path, strerror(errno));
	close(fd);
	if (!realpath(path, full))
		return fail(2, "-o %s: %s", path, strerror(errno));
	want('o', full);
	return 0;
}

static int want_bytes(const char *text)
{
	char *end;
	long bytes = strtol(text, &end, 10);

	if (*end || end == text || bytes < 0 || bytes > 4096)
		return fail(2, "-s %s: not a number from 0 to 4096", text);
	want('s', text);
	return 0;
}

/* Reads the options. Returns 0, or the exit status; -1 if nothing is left to do. */
static int read_option(int option)
{
	switch (option) {
	case 'e':
		if (strlen(optarg) > 200 || strchr(optarg, '\n'))
			return fail(2, "-e: too long");
		want('e', optarg);
		return 0;
	case 'l':
		if (strlen(optarg) > 60 || strchr(optarg, '\n'))
			return fail(2, "-l: too long");
		want('l', optarg);
		return 0;
	case 'o':
		return want_file(optarg);
	case 's':
		return want_bytes(optarg);
	case 'h':
		usage(stdout);
		return -1;
	case 'V':
		puts("verbs-trace " OUR_VERSION);
		return -1;
	case '?':
		fail(2, "see verbs-trace --help");
		return 2;
	default:
		want((char)option, "");
		return 0;
	}
}

/*
 * Finds the shared object next to the launcher, where both are built, or in PREFIX/lib if the
 * launcher is installed in PREFIX/bin.
 */
static int find_ours(const char *name, char *path)
{
	static const char *const places[] = { "", "../lib/verbs-trace/" };
	char self[PATH_MAX - 64];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t i;

	if (length < 0)
		return fail(1, "/proc/self/exe: %s", strerror(errno));
	self[length] = '\0';
	*(strrchr(self, '/') + 1) = '\0';
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, PATH_MAX, "%s%s%s", self, places[i], name);
		if (!access(path, R_OK))
			return 0;
	}
	return fail(1, "there is no %s beside %s", name, self);
}

/*
 * The loader splits LD_PRELOAD at spaces and colons. A library whose path has one is passed as an
 * open descriptor, under a number that no program expects to get. forget_us in process.c closes it;
 * with -f it stays open, for the programs that this one executes.
 */
static int find_library(char *library)
{
	int low, high, ret = find_ours(LIBRARY, library);

	if (ret || !strpbrk(library, " :"))
		return ret;
	low = open(library, O_RDONLY);
	if (low < 0)
		return fail(1, "%s: %s", library, strerror(errno));
	high = fcntl(low, F_DUPFD, HIGH);
	if (high >= 0)
		close(low);
	snprintf(library, PATH_MAX, DESCRIPTOR_PATH "%d", high >= 0 ? high : low);
	return 0;
}

/* With --html OUT.html [--packets FILE] TRACE.json... another program does the work. */
static int draw(char **argv)
{
	char path[PATH_MAX];
	int ret = find_ours(PICTURE, path);

	if (ret)
		return ret;
	setenv("PYTHONDONTWRITEBYTECODE", "1", 1); /* no files from root if installed */
	argv[0] = (char *)"python3";
	argv[1] = path;
	execvp(argv[0], argv);
	return fail(126, "--html needs python3: %s", strerror(errno));
}

/* Puts `first` before the value of a variable, and `last` after it, with colons between. */
static int add_to_variable(const char *name, const char *first, const char *last)
{
	const char *others = getenv(name);
	char *value;
	int ret;

	if (others && !*others)
		others = NULL;
	if (asprintf(&value, "%s%s%s%s%s", first, others && *first ? ":" : "", others ? others : "",
		     others && *last ? ":" : "", last) < 0)
		return -1;
	ret = setenv(name, value, 1);
	free(value);
	return ret;
}

static int set_environment(void)
{
	char library[PATH_MAX], start[24];
	struct timespec now;
	int ret = find_library(library);

	if (ret)
		return ret;
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(start, sizeof(start), "%" PRIu64,
		 (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	/* AddressSanitizer's runtime wants to be the first library, but also works after ours. */
	if (add_to_variable("LD_PRELOAD", library, "") ||
	    add_to_variable("ASAN_OPTIONS", "", "verify_asan_link_order=0") ||
	    setenv(SETTINGS_VARIABLE, wanted, 1) || setenv(START_VARIABLE, start, 1))
		return fail(1, "%s", strerror(errno));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option names[] = { { "help", no_argument, NULL, 'h' },
					       { "version", no_argument, NULL, 'V' },
					       { NULL, 0, NULL, 0 } };
	int option, status;

	if (argc > 1 && !strcmp(argv[1], "--html"))
		return draw(argv);
	while ((option = getopt_long(argc, argv, "+ce:fhijkl:no:pqs:wV", names, NULL)) != -1) {
		status = read_option(option);
		if (status)
			return status < 0 ? 0 : status;
	}
	if (optind == argc)
		return fail(2, "no program given; see verbs-trace --help");
	status = set_environment();
	if (status)
		return status;
	execvp(argv[optind], argv + optind);
	return fail(errno == ENOENT ? 127 : 126, "%s: %s", argv[optind], strerror(errno));
}
