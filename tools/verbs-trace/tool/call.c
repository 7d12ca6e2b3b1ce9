/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the parts of each call: its thread, the libraries' own function, the error
 * of its result, and its line, in words or in JSON. See call.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "verbs-trace/tool/call.h"
#include "verbs-trace/tool/callers.h"
#include "verbs-trace/tool/guard.h"
#include "verbs-trace/tool/settings.h"

#define MOST 2048 /* bytes of the program's arguments that are shown */

/* ---- Threads ---- */

__thread struct thread *thread_mine;
static struct thread *threads; /* rows are not freed, but are used again */
static int n_threads;
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_ends(void *row)
{
	struct thread *thread = row;

	guard_lock(GUARD_THREADS);
	thread->gone = true;
	guard_unlock(GUARD_THREADS);
	thread_mine = NULL;
}

static void make_key(void)
{
	pthread_key_create(&at_end, thread_ends);
}

struct thread *thread_new(void)
{
	static struct tally lost[N_VERBS];
	static __thread struct thread without_memory;
	struct thread *thread;

	pthread_once(&once, make_key);
	guard_lock(GUARD_THREADS);
	for (thread = threads; thread && !thread->gone; thread = thread->next)
		;
	if (!thread) {
		thread = calloc(1, sizeof(*thread) + N_VERBS * sizeof(struct tally));
		if (thread) {
			thread->tallies = (struct tally *)(thread + 1);
			thread->next = threads;
			threads = thread;
		}
	}
	if (thread) {
		thread->gone = false;
		thread->depth = 0;
		thread->in.when = 0;
		thread->number = ++n_threads;
		thread->tid = (pid_t)syscall(SYS_gettid);
	}
	guard_unlock(GUARD_THREADS);
	without_memory.tallies = lost;
	thread_mine = thread ? thread : &without_memory;
	thread_mine->error = __errno_location();
	pthread_setspecific(at_end, thread_mine);
	return thread_mine;
}

struct thread *threads_first(void)
{
	return threads;
}

void threads_forked(void)
{
	struct thread *thread;

	for (thread = threads; thread; thread = thread->next)
		thread->gone = thread != thread_mine;
	if (thread_mine)
		thread_mine->tid = (pid_t)syscall(SYS_gettid);
}

/* ---- Functions and errors ---- */

bool tracing;

struct moment call_moment(const struct call *call)
{
	return (struct moment){ call->verb, call->began ? call->began : clock_now() };
}

int error_of_bad(long long ret)
{
	if (ret == -1)
		return errno ? errno : ERROR_UNSAID;
	return ret < 0 ? (int)-ret : (int)ret;
}

int error_of_pointer(const void *ret)
{
	if (ret)
		return 0;
	return errno ? errno : ERROR_UNSAID;
}

static void *_Atomic found[N_VERBS];

void *real_function(int verb)
{
	void *function = found[verb];

	if (function)
		return function;
	function = dlvsym(RTLD_NEXT, verbs[verb].name, verbs[verb].version);
	if (!function)
		function = dlsym(RTLD_NEXT, verbs[verb].name);
	if (!function) {
		fprintf(stderr, "verbs-trace: the installed RDMA libraries have no %s\n",
			verbs[verb].name);
		abort();
	}
	found[verb] = function;
	return function;
}

/* ---- Lines ---- */

uint64_t trace_start;

static char whole[65536];
static struct out line;

static bool has_heading;

/* Reads the first bytes of a file of /proc, and adds a 0. */
static size_t read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0 ? (size_t)length : 0;
}

/* To be called with the lock held. */
static void write_heading(void)
{
	char text[8 * MOST], words[MOST], boot[64];
	struct out out = { .text = text, .size = sizeof(text), .binary = MOST, .json = true };
	int saved_errno = errno;
	size_t length, at;

	if (has_heading || !settings.json)
		return;
	has_heading = true;
	read_file("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	boot[strcspn(boot, "\n")] = '\0';
	length = read_file("/proc/self/cmdline", words, sizeof(words));
	out_raw(&out, "{");
	out_signed(&out, "pid", getpid());
	out_open_list(&out, "program");
	for (at = 0; at < length; at += strlen(words + at) + 1)
		out_string(&out, NULL, words + at);
	out_close_list(&out);
	out_unsigned(&out, "start_ns", trace_start);
	out_word(&out, "boot_id", boot);
	out_raw(&out, "}\n");
	sink_write(out.text, out.length);
	errno = saved_errno;
}

void line_forked(void)
{
	has_heading = false;
}

struct out *line_begin(int verb, uint64_t when, const struct thread *thread)
{
	uint64_t since = when - trace_start;

	guard_lock(GUARD_LINE);
	write_heading();
	line = (struct out){
		.text = whole,
		.size = sizeof(whole),
		.tail = 1024,
		.binary = settings.binary,
		.json = settings.json,
	};
	if (line.json) {
		out_raw(&line,
			"{\"time_ns\":%" PRIu64
			",\"pid\":%d,\"tid\":%d,\"thread\":%d,\"call\":\"%s\",",
			since, (int)getpid(), (int)thread->tid, thread->number, verbs[verb].name);
		return &line;
	}
	if (settings.follow)
		out_raw(&line, "[%d] ", (int)getpid());
	out_raw(&line, "%s%3" PRIu64 ".%06" PRIu64 " t%d %*s%s", settings.label, since / 1000000000,
		since % 1000000000 / 1000, thread->number,
		thread->depth > 1 ? 4 * (thread->depth - 1) : 0, "", verbs[verb].name);
	return &line;
}

void line_end(struct out *out)
{
	out_raw(out, out->json ? "}\n" : "\n");
	sink_write(out->text, out->length);
	guard_unlock(GUARD_LINE);
}

void call_close(struct call *call)
{
	struct out *out = call->out;

	if (out->cut)
		out_raw(out, out->json ? "%s\"cut\":true" : "%s...",
			!out->comma ? ""
			: out->json ? ","
				    : ", ");
	out_raw(out, out->json ? "}," : ")");
	out->comma = false;
	out->tail = 0;
}

struct out *call_result(struct call *call)
{
	call_close(call);
	if (!call->out->json)
		out_raw(call->out, " = ");
	return call->out;
}

static void show_callers(struct out *out)
{
	struct callers callers;

	callers_note(&callers);
	callers_show(out, &callers);
}

void call_done(struct call *call)
{
	struct out *out = call->out;
	uint64_t took = call->ended - call->began;
	bool said = call->error != ERROR_UNSAID;
	const char *name = said ? strerrorname_np(call->error) : "errno 0";

	if (call->error && out->json)
		out_raw(out, ",\"error\":\"%s\"", name ? name : "?");
	else if (call->error)
		out_raw(out, " %s (%s)", name ? name : "?",
			said ? strerrordesc_np(call->error) : "it does not say why");
	if (out->json)
		out_raw(out, "%s\"took_ns\":%" PRIu64, out->comma ? "," : "", took);
	else
		out_raw(out, " <" SECONDS ">", IN_SECONDS(took));
	if (settings.callers)
		show_callers(out);
	line_end(out);
	call->out = NULL;
}
