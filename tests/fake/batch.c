/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: runs of the program, one after the other, in one process. See batch.h.
 * After each run the process sees to it that no thread, signal, timer, descriptor, or memory of the
 * program is left; if one is, the process ends. Before the next run all static variables of this
 * executable, of which the program and the fake are a part, get the values from before the first run.
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fake/batch.h"
#include "tests/fake/libc.h"
#include "tests/fake/run.h"
#include "tests/fake/run_end.h"

#define MOST_RUNS     100 /* of a process: what the fake allocates is never freed */
#define MOST_MESSAGES 5000
#define LIMIT_MS      5000
#define FIRST_FD      4 /* of those that a run may open */
#define PATIENCE      1000

/* The static variables, as the linker and the C library's start files place them. */
extern char __executable_start[], __data_start[], _end[];

/* With gcov, the counters of all runs are among the static variables: NULL without it. */
void __gcov_init(void) __attribute__((weak));

/* What a process has besides its static variables. It is on the stack. */
struct own {
	struct batch *batch;
	int socket;
	char *variables;
	size_t size;
	FILE *out;
	sigset_t mask;
	struct sigaction actions[NSIG];
};

/*
 * Puts a copy of the static variables in their place: pages of a file, of which each that is written
 * to becomes a private copy. The calls are not AddressSanitizer's, which also guards what is between
 * the variables.
 */
static bool keep_variables(struct own *own)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	int file = memfd_create("variables", MFD_CLOEXEC);

	own->variables = (char *)((uintptr_t)__data_start & ~(page - 1));
	own->size = ((uintptr_t)_end - (uintptr_t)own->variables + page - 1) & ~(page - 1);
	if (file < 0 ||
	    syscall(SYS_pwrite64, file, own->variables, own->size, 0) != (long)own->size)
		return false;
	return mmap(own->variables, own->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
		    file, 0) != MAP_FAILED;
}

static void keep_signals(struct own *own)
{
	int number;

	sigprocmask(SIG_SETMASK, NULL, &own->mask);
	for (number = 1; number < NSIG; number++)
		__real_sigaction(number, NULL, &own->actions[number]);
}

/* Returns false if one has not been delivered. */
static bool restore_signals(const struct own *own)
{
	sigset_t pending;
	int number;

	__real_alarm(0);
	if (sigpending(&pending) || !sigisemptyset(&pending))
		return false;
	for (number = 1; number < NSIG; number++)
		__real_sigaction(number, &own->actions[number], NULL);
	return !sigprocmask(SIG_SETMASK, &own->mask, NULL);
}

/* A thread that was joined may be seen for a moment. */
static bool is_only_thread(void)
{
	struct stat tasks;
	int i;

	for (i = 0; i < PATIENCE && !stat("/proc/self/task", &tasks); i++) {
		if (tasks.st_nlink == 3) /* "." and "..", and this thread */
			return true;
		sched_yield();
	}
	return false;
}

/* Returns whether the process is as it was before the run. */
static bool run_once(const struct own *own)
{
	struct batch *batch = own->batch;
	char *arguments[BATCH_WORDS + 1] = { NULL };
	bool tidy;
	int n;

	if (madvise(own->variables, own->size, MADV_DONTNEED))
		return false;
	optind = 0; /* glibc's own variables are set, too */
	errno = 0;
	for (n = 0; *batch->words[n]; n++)
		arguments[n] = batch->words[n];
	fake_start(&batch->config, &batch->report);
	batch->status = W_EXITCODE(program_main(n, arguments) & 0xff, 0);
	tidy = fake_stop();
	fflush(NULL);
	if (stdout != own->out)
		fclose(stdout);
	stdout = own->out;
	return tidy && fake_all_freed() && is_only_thread() && restore_signals(own) &&
	       !close_range(FIRST_FD, ~0U, 0);
}

/* Runs the program whenever the runner says so. */
static void serve(struct own *own, const int *files)
{
	char go;
	int n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(files[0], STDOUT_FILENO) < 0 || dup2(files[1], STDERR_FILENO) < 0 ||
	    dup2(own->socket, FIRST_FD - 1) < 0 || close_range(FIRST_FD, ~0U, 0))
		_exit(2);
	own->socket = FIRST_FD - 1;
	own->out = stdout;
	keep_signals(own);
	if (!keep_variables(own) || close_range(FIRST_FD, ~0U, 0))
		_exit(2);
	for (n = 0; n < MOST_RUNS && read(own->socket, &go, 1) == 1; n++) {
		if (!run_once(own) || write(own->socket, "", 1) != 1)
			break;
	}
	_exit(0);
}

/* As the runner sees it. pid 0: there is none. */
struct worker {
	pid_t pid;
	int socket;
	int runs;
};

static bool begin(struct worker *worker, struct batch *batch, const int *files)
{
	struct own own = { .batch = batch };
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return false;
	fflush(NULL);
	own.socket = sockets[1];
	worker->pid = fork();
	if (!worker->pid)
		serve(&own, files);
	close(sockets[1]);
	worker->socket = sockets[0];
	worker->runs = 0;
	return worker->pid > 0;
}

static void end(struct worker *worker)
{
	kill(worker->pid, SIGKILL);
	waitpid(worker->pid, NULL, 0);
	close(worker->socket);
	worker->pid = 0;
}

/* Returns false if there is no room for an argument. */
static bool copy_words(struct batch *batch, char **arguments)
{
	int n;

	for (n = 0; n < BATCH_WORDS - 1 && arguments[n] && *arguments[n]; n++) {
		if (snprintf(batch->words[n], BATCH_WORD, "%s", arguments[n]) >= BATCH_WORD)
			return false;
	}
	*batch->words[n] = '\0';
	return !arguments[n];
}

static bool await_run(const struct worker *worker, int limit_ms)
{
	char answer;

	return sendto(worker->socket, "", 1, MSG_NOSIGNAL, NULL, 0) == 1 &&
	       run_await_answer(worker->pid, worker->socket, limit_ms) &&
	       read(worker->socket, &answer, 1) == 1;
}

/* The process has what was constant when it began. */
static bool is_constant(const void *what)
{
	return !what || ((uintptr_t)what >= (uintptr_t)__executable_start &&
			 (uintptr_t)what < (uintptr_t)__data_start);
}

static bool fits(const struct fake_config *config)
{
	const void *const others[] = { config->slow_call, config->fault_name, config->fault_way,
				       config->stop_name, config->extension,  config->refusal,
				       config->tells,     config->confirms,   config->mistake,
				       config->machine };
	size_t i = 0;

	while (i < sizeof(others) / sizeof(others[0]) && is_constant(others[i]))
		i++;
	return i == sizeof(others) / sizeof(others[0]) && config->count <= MOST_MESSAGES &&
	       !config->talks && !config->full_stdout && !config->descriptors;
}

bool batch_run(struct batch *batch, const struct fake_config *config, char **arguments,
	       const int *files, int limit_ms, int *status)
{
	static struct worker worker;

	if (__gcov_init || !fits(config) || !copy_words(batch, arguments))
		return false;
	batch->config = *config;
	if (worker.pid && worker.runs == MOST_RUNS)
		end(&worker);
	if (!worker.pid && !begin(&worker, batch, files))
		return false;
	worker.runs++;
	if (!await_run(&worker, limit_ms < LIMIT_MS ? limit_ms : LIMIT_MS)) {
		end(&worker);
		return false;
	}
	*status = batch->status;
	return true;
}
