/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: support for tests that run programs. See process.h. If Check kills the test because it is
 * late, or the test fails, the kernel kills the programs: each asks for that when it starts.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/process.h"

#define MAX_PROCESSES 16
#define MAX_ARGUMENTS 32
#define MAX_TEXT      (16u << 20)
#define LOOK_EVERY_MS 5

static struct process processes[MAX_PROCESSES];
static unsigned int n_processes;

static void become(pid_t parent, void (*prepare)(void), const int *streams, char **arguments)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it died before it could tell us */
		raise(SIGKILL);
	dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
	dup2(streams[PROCESS_OUT], STDOUT_FILENO);
	dup2(streams[PROCESS_ERR], STDERR_FILENO);
	if (prepare)
		prepare();
	execv(arguments[0], arguments);
	fprintf(stderr, "cannot run %s: %s\n", arguments[0], strerror(errno));
	_exit(127);
}

/* Adds a list of arguments to `all`, and returns how many there are now. */
static int add_arguments(const char **all, int n, const char *const *list)
{
	for (; *list; list++) {
		ck_assert_int_lt(n, MAX_ARGUMENTS);
		all[n++] = *list;
	}
	return n;
}

struct process *process_start(const char *name, const char *const *arguments,
			      const char *const *more, void (*prepare)(void))
{
	struct process *process = &processes[n_processes];
	const char *all[MAX_ARGUMENTS + 1] = { name };
	pid_t parent;
	int i, n;

	ck_assert_uint_lt(n_processes, MAX_PROCESSES);
	n = add_arguments(all, 1, arguments);
	add_arguments(all, n, more);
	*process = (struct process){ .name = name };
	for (i = 0; i < 2; i++) {
		process->streams[i] = memfd_create(name, MFD_CLOEXEC);
		ck_assert_int_ge(process->streams[i], 0);
	}
	fflush(NULL);
	parent = getpid();
	process->pid = fork();
	ck_assert_int_ge(process->pid, 0);
	if (!process->pid)
		become(parent, prepare, process->streams, (char **)(void *)all);
	n_processes++;
	process->pidfd = pidfd_open(process->pid, 0);
	process_assert(process->pidfd >= 0, "pidfd_open: %s", strerror(errno));
	return process;
}

static void reap(struct process *process)
{
	if (!process->ended && waitpid(process->pid, &process->status, WNOHANG) == process->pid)
		process->ended = true;
}

static bool await_end(struct process **list, int n, int milliseconds)
{
	struct pollfd fds[2] = { 0 };
	int i;

	for (i = 0; i < n; i++) {
		reap(list[i]);
		if (list[i]->ended)
			return true;
		fds[i] = (struct pollfd){ .fd = list[i]->pidfd, .events = POLLIN };
	}
	poll(fds, (nfds_t)n, milliseconds);
	for (i = 0; i < n; i++) {
		reap(list[i]);
		if (list[i]->ended)
			return true;
	}
	return false;
}

bool process_ended(struct process *process, int milliseconds)
{
	return await_end(&process, 1, milliseconds);
}

struct process *process_first_ended(struct process *one, struct process *two)
{
	struct process *both[] = { one, two };

	if (!await_end(both, 2, PROCESS_SECONDS * 1000))
		process_fail("neither %s nor %s ended in %d s", one->name, two->name,
			     PROCESS_SECONDS);
	return one->ended ? one : two;
}

int process_exit_status(struct process *process)
{
	if (!process_ended(process, PROCESS_SECONDS * 1000))
		process_fail("%s did not end in %d s", process->name, PROCESS_SECONDS);
	if (!WIFEXITED(process->status))
		process_fail("%s was ended by signal %d (%s)", process->name,
			     WTERMSIG(process->status), strsignal(WTERMSIG(process->status)));
	return WEXITSTATUS(process->status);
}

static unsigned int occurrences(const char *text, const char *wanted)
{
	unsigned int n = 0;

	while ((text = strstr(text, wanted))) {
		text += strlen(wanted);
		n++;
	}
	return n;
}

void process_await_text(struct process *process, enum process_stream stream, const char *text,
			unsigned int times)
{
	struct timespec now, deadline;
	bool ended;

	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += PROCESS_SECONDS;
	do {
		/* In this order: what it said just before its end counts. */
		ended = await_end(&process, 1, LOOK_EVERY_MS);
		if (occurrences(process_text(process, stream), text) >= times)
			return;
		if (ended)
			process_fail("%s ended without '%s'", process->name, text);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < deadline.tv_sec);
	process_fail("%s did not say '%s' %u times in %d s", process->name, text, times,
		     PROCESS_SECONDS);
}

const char *process_text(struct process *process, enum process_stream stream)
{
	static char *texts[MAX_PROCESSES][2];
	char **text = &texts[process - processes][stream];
	ssize_t length = lseek(process->streams[stream], 0, SEEK_END);

	ck_assert_int_ge(length, 0);
	ck_assert_int_le(length, MAX_TEXT);
	free(*text);
	*text = malloc((size_t)length + 1);
	ck_assert_ptr_nonnull(*text);
	length = pread(process->streams[stream], *text, (size_t)length, 0);
	ck_assert_int_ge(length, 0);
	(*text)[length] = '\0';
	return *text;
}

void process_signal(struct process *process, int signal_number)
{
	process_assert(!process->ended, "%s ended before signal %d was sent", process->name,
		       signal_number);
	process_assert(!kill(process->pid, signal_number), "kill: %s", strerror(errno));
}

unsigned long process_status_kib(struct process *process, const char *field)
{
	char path[64], line[256];
	unsigned long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", process->pid);
	file = fopen(path, "re");
	process_assert(file, "%s: %s", path, strerror(errno));
	while (!kib && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, field, strlen(field)) && line[strlen(field)] == ':')
			kib = strtoul(line + strlen(field) + 1, NULL, 10);
	}
	fclose(file);
	process_assert(kib, "%s has no %s: is %s running?", path, field, process->name);
	return kib;
}

static void show_stream(struct process *process, enum process_stream stream)
{
	const char *text = process_text(process, stream);
	size_t length = strlen(text);

	if (!length)
		return;
	fprintf(stderr, "--- %s, pid %d, %s:\n%s%s", process->name, process->pid,
		stream == PROCESS_OUT ? "stdout" : "stderr", length > 4000 ? "[...]" : "",
		text + (length > 4000 ? length - 4000 : 0));
}

void process_fail(const char *what, ...)
{
	char text[512];
	va_list arguments;
	unsigned int i;

	va_start(arguments, what);
	vsnprintf(text, sizeof(text), what, arguments);
	va_end(arguments);
	fprintf(stderr, "--- failed: %s\n", text);
	for (i = 0; i < n_processes; i++) {
		show_stream(&processes[i], PROCESS_OUT);
		show_stream(&processes[i], PROCESS_ERR);
	}
	process_end_all();
	ck_abort_msg("%s", text);
	abort(); /* not reached: ck_abort_msg leaves the test */
}

void process_end_all(void)
{
	unsigned int i;

	for (i = 0; i < n_processes; i++) {
		if (!processes[i].ended) {
			kill(processes[i].pid, SIGKILL);
			waitpid(processes[i].pid, &processes[i].status, 0);
		}
		close(processes[i].pidfd);
		close(processes[i].streams[PROCESS_OUT]);
		close(processes[i].streams[PROCESS_ERR]);
	}
	n_processes = 0;
}
