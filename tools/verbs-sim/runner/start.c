/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Starting a program in the world of this run, and its streams. With steps these are files, so
 * that no program waits for a reader in real time, and the runner can search the output. See
 * runner.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs-sim/runner/runner.h"

/* Puts `ours` before the value of a variable. */
static void put_first(const char *name, const char *ours)
{
	const char *others = getenv(name);
	char *value;

	if (asprintf(&value, "%s%s%s", ours, others && *others ? ":" : "", others ? others : "") <
	    0)
		_exit(SIM_EXIT_BROKEN);
	setenv(name, value, 1);
	free(value);
}

static void set_environment(const struct sim_options *options, int number, int world_fd)
{
	static const char *const sanitizers[] = { "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS",
						  "TSAN_OPTIONS" };
	char text[64];
	size_t i;

	snprintf(text, sizeof(text), "/proc/%d/fd/%d", getppid(), world_fd);
	setenv(SIM_WORLD_VARIABLE, text, 1);
	snprintf(text, sizeof(text), "%d", number);
	setenv(SIM_PROGRAM_VARIABLE, text, 1);
	/* AddressSanitizer's runtime wants to be the first library, but also works after ours. */
	put_first("ASAN_OPTIONS", "verify_asan_link_order=0");
	/* A program may end with any status then, but not with a report of a sanitizer. */
	for (i = 0; options->sweep && i < sizeof(sanitizers) / sizeof(sanitizers[0]); i++)
		put_first(sanitizers[i], "halt_on_error=1:abort_on_error=1");
	if (number != options->gdb)
		put_first("LD_PRELOAD", options->library);
}

/* The library is for the program, not for gdb itself. */
static void execute_in_gdb(const struct sim_options *options, char **argv)
{
	char *words[64] = { "gdb",   "-q",
			    "-ex",   NULL,
			    "-ex",   "set startup-with-shell off",
			    "-ex",   "handle SIGUSR1 nostop noprint pass",
			    "--args" };
	char *set;
	int i = 9;

	if (asprintf(&set, "set environment LD_PRELOAD %s", options->library) < 0)
		_exit(SIM_EXIT_BROKEN);
	words[3] = set;
	for (; *argv && i < 63; argv++)
		words[i++] = *argv;
	execvp(words[0], words);
}

/*
 * Puts all programs of a run on one processor: one thread at a time runs, and waking another one on
 * a second processor takes ten times as long. Simultaneous runs get different processors.
 */
static void share_a_processor(void)
{
	cpu_set_t allowed, chosen;
	int left, cpu;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	left = getppid() % CPU_COUNT(&allowed);
	for (cpu = 0; cpu < CPU_SETSIZE && (!CPU_ISSET(cpu, &allowed) || left--); cpu++)
		;
	CPU_ZERO(&chosen);
	CPU_SET(cpu, &chosen);
	sched_setaffinity(0, sizeof(chosen), &chosen);
}

pid_t sim_start(const struct sim_options *options, int number, int world_fd, char **argv,
		const struct sim_streams *streams)
{
	sigset_t none;
	pid_t pid = fork();
	int i;

	if (pid)
		return pid;
	for (i = 0; i < 3; i++) {
		if (streams->fds[i] >= 0)
			dup2(streams->fds[i], i);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	share_a_processor();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	set_environment(options, number, world_fd);
	if (number == options->gdb) {
		execute_in_gdb(options, argv);
	} else {
		setpgid(0, 0); /* Ctrl-C is for the runner, which kills the programs */
		personality(ADDR_NO_RANDOMIZE);
		execvp(argv[0], argv);
	}
	fprintf(stderr, "verbs-sim: %s: %s\n", number == options->gdb ? "gdb" : argv[0],
		strerror(errno));
	_exit(127);
}

/* ---- Streams ---- */

void sim_default_streams(const struct sim_run *run, struct sim_streams *streams)
{
	const char *traced = run->options->traced;
	bool without_input = run->options->steps || run->options->hushed;
	int i;

	*streams = (struct sim_streams){ .fds = { -1, -1, -1 } };
	if (traced) {
		streams->fds[1] = open("/dev/null", O_WRONLY | O_CLOEXEC);
		streams->fds[2] = open(traced, O_WRONLY | O_APPEND | O_CLOEXEC);
	}
	if (traced || (!without_input && !run->options->apart))
		return;
	if (without_input)
		streams->fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (i = 1; i < 3; i++) {
		streams->fds[i] = memfd_create("output", MFD_CLOEXEC);
		streams->kept[i] = true;
	}
}

bool sim_redirect(struct sim_streams *streams, const char *word)
{
	static const char *const signs[] = { "<", ">", "2>" };
	static const int flags[] = { O_RDONLY, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND };
	int i;

	for (i = 0; i < 3 && strncmp(word, signs[i], strlen(signs[i])); i++)
		;
	if (i == 3)
		return false;
	close(streams->fds[i]);
	streams->kept[i] = false;
	streams->files[i] = strdup(word + strlen(signs[i]));
	streams->fds[i] = open(streams->files[i], flags[i > 0] | O_CLOEXEC, 0666);
	return true;
}

void sim_close_streams(struct sim_streams *streams)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (streams->fds[i] >= 0 && !streams->kept[i])
			close(streams->fds[i]);
	}
}

/* Maps the output. Returns NULL if there is none, or it cannot be read. */
static const char *map(const struct sim_streams *streams, int stream, size_t *size)
{
	int fd = streams->kept[stream] ? streams->fds[stream]
				       : open(streams->files[stream], O_RDONLY | O_CLOEXEC);
	void *text = MAP_FAILED;
	struct stat found;

	if (fd >= 0 && !fstat(fd, &found) && S_ISREG(found.st_mode) && found.st_size) {
		*size = (size_t)found.st_size;
		text = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0 && !streams->kept[stream])
		close(fd);
	return text == MAP_FAILED ? NULL : text;
}

bool sim_search(const struct sim_streams *streams, struct sim_steps *steps)
{
	size_t size, length = strlen(steps->text);
	const char *text = map(streams, steps->stream, &size), *found;

	if (!text)
		return false;
	while (steps->times && (found = memmem(text + steps->searched, size - steps->searched,
					       steps->text, length))) {
		steps->times--;
		steps->searched = (size_t)(found - text) + length;
	}
	if (size - steps->searched >= length)
		steps->searched = size - length + 1;
	munmap((void *)text, size);
	return !steps->times;
}

/* Returns the last non-empty line of a text, or a sanitizer's summary. */
static void take_last_line(const char *text, size_t size, char *to, size_t room)
{
	static const char summary[] = "SUMMARY: ";
	const char *found = memmem(text, size, summary, sizeof(summary) - 1);

	while (size && text[size - 1] == '\n')
		size--;
	if (!found && (found = memrchr(text, '\n', size)))
		found++;
	found = found ? found : text;
	snprintf(to, room, "%.*s", (int)(text + size - found), found);
	to[strcspn(to, "\n")] = '\0';
}

void sim_take_last_words(const struct sim_streams *streams, char *to, size_t room)
{
	const char *text;
	size_t size;
	int i;

	for (i = 1; i < 3; i++) {
		text = streams->kept[i] ? map(streams, i, &size) : NULL;
		if (text) {
			take_last_line(text, size, to, room);
			munmap((void *)text, size);
		}
		if (streams->kept[i])
			close(streams->fds[i]);
	}
}

void sim_print_kept(const struct sim_streams *streams)
{
	const char *text;
	size_t size;
	int i;

	for (i = 1; i < 3; i++) {
		text = streams->kept[i] ? map(streams, i, &size) : NULL;
		if (text) {
			fwrite(text, 1, size, i == 1 ? stdout : stderr);
			fflush(i == 1 ? stdout : stderr);
			munmap((void *)text, size);
		}
		if (streams->kept[i])
			close(streams->fds[i]);
	}
}
