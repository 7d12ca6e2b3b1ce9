/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: one run of the program under test. See run.h.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/fake/batch.h"
#include "tests/fake/run.h"
#include "tests/fake/run_end.h"

#define LIMIT_MS 30000 /* for a run, which usually takes some ms; one more a message, */
#define MOST_MS  60000 /* but at most this many: a tenth of the suite's time */

#define MOST_WARM 65536 /* bytes of a block */

/*
 * The exit status after a report of a sanitizer. The search for leaks begins when main has
 * returned.
 */
/* See sanitizer/lsan_interface.h: it ends the process if there is a leak. Without LeakSanitizer: NULL. */
void __lsan_do_leak_check(void) __attribute__((weak));

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	/* To record the stack of each allocation takes a tenth of a run. ASAN_OPTIONS overrides it. */
	return "exitcode=98:abort_on_error=0:detect_leaks=1:print_legend=0:malloc_context_size=1";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "exitcode=98:print_stacktrace=1";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "exitcode=98:report_signal_unsafe=0";
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* FAKE_LIMIT_MS in the environment sets another limit, for programs that are expected to hang. */
static int limit_ms(void)
{
	const char *text = getenv("FAKE_LIMIT_MS");

	return text ? atoi(text) : LIMIT_MS;
}

static int limit_for(uint64_t messages)
{
	return limit_ms() + (int)(messages < MOST_MS ? messages : MOST_MS);
}

static int count(char **arguments)
{
	int n = 0;

	while (arguments[n])
		n++;
	return n;
}

void words_add(struct words *words, const char *word)
{
	snprintf(words->text[words->n], sizeof(words->text[0]), "%s", word);
	words->list[words->n] = words->text[words->n];
	words->list[++words->n] = NULL;
}

void words_add_number(struct words *words, const char *option, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	words_add(words, option);
	words_add(words, text);
}

/* stdin contains all lines from the beginning. */
static int open_typed(const struct fake_config *config)
{
	static char text[FAKE_MOST_TYPED];
	size_t length = fake_typed(config->count, text, sizeof(text));
	int file = memfd_create("typed", MFD_CLOEXEC);

	if (file < 0 || pwrite(file, text, length, 0) != (ssize_t)length)
		_exit(2);
	return file;
}

/*
 * Ends the process after the program's own exit handlers, without the destructors of the executable:
 * AddressSanitizer's would poison each global variable of all stages, which takes a fifth of a run.
 * Without it a run ends as usual: gcov writes its counts in a destructor.
 */
static void leave(int status, void *unused)
{
	bool tidy = fake_stop();

	(void)unused;
	fflush(NULL);
	if (!tidy)
		_exit(FAKE_EXIT_LEDGER);
	if (!__lsan_do_leak_check)
		return;
	__lsan_do_leak_check();
	_exit(status);
}

static void be_the_program(const struct fake_config *config, struct fake_report *report, int *files,
			   char **arguments)
{
	const struct rlimit limit = { config->descriptors, config->descriptors };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (config->full_stdout)
		files[0] = open("/dev/full", O_WRONLY | O_CLOEXEC);
	if (dup2(files[0], STDOUT_FILENO) < 0 || dup2(files[1], STDERR_FILENO) < 0)
		_exit(2);
	if (config->descriptors && setrlimit(RLIMIT_NOFILE, &limit))
		_exit(2);
	if (config->talks && dup2(open_typed(config), STDIN_FILENO) < 0)
		_exit(2);
	if (on_exit(leave, NULL))
		_exit(2);
	fake_start(config, report);
	exit(program_main(count(arguments), arguments));
}

/*
 * Lets AddressSanitizer set up memory for blocks of all sizes once, before the first fork, not in each
 * run.
 */
static void warm_up(void)
{
	size_t size;
	void *block;

	for (size = 16; size <= MOST_WARM; size += size < 256 ? 16 : size / 4) {
		block = malloc(size);
		__asm__ volatile("" : : "r"(block));
		free(block);
	}
}

/* Files for the program's output, and memory for what the fake reports: the same ones for all runs. */
static int files[2];
static struct batch *shared;

static void set_up(void)
{
	int i;

	warm_up();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		die("mmap");
	for (i = 0; i < 2; i++) {
		files[i] = memfd_create("output", MFD_CLOEXEC);
		if (files[i] < 0)
			die("memfd_create");
	}
}

static void prepare(struct run *run)
{
	int i;

	if (!shared)
		set_up();
	memset(&shared->report, 0, sizeof(shared->report));
	memset(run, 0, sizeof(*run));
	run->report = &shared->report;
	for (i = 0; i < 2; i++) {
		if (ftruncate(files[i], 0) || lseek(files[i], 0, SEEK_SET))
			die("ftruncate");
	}
	run->real_ns = our_now_ns();
}

static void finish(struct run *run)
{
	ssize_t length;

	run->real_ns = our_now_ns() - run->real_ns;
	length = pread(files[0], run->output, RUN_TEXT - 1, 0);
	if (length < 0 || pread(files[1], run->errors, RUN_TEXT - 1, 0) < 0)
		die("pread");
	run->output_length = (size_t)length;
}

static void run_alone(struct run *run, const struct fake_config *config, char **arguments)
{
	pid_t pid;

	prepare(run);
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		be_the_program(config, run->report, files, arguments);
	run->hung = run_await_end(pid, limit_for(config->count), &run->status);
	finish(run);
}

static bool alone; /* the next run has a process of its own */

void run_program(struct run *run, const struct fake_config *config, char **arguments)
{
	prepare(run);
	run->in_batch = !alone && batch_run(shared, config, arguments, files,
					    limit_for(config->count), &run->status);
	alone = false;
	if (run->in_batch)
		finish(run);
	else
		run_alone(run, config, arguments);
}

bool run_once_more(const struct run *run)
{
	alone = run->in_batch;
	return alone;
}
