/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The world: creating and mapping it, the hash, and the texts for the end of a run. See world.h.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-sim/core/world.h"

struct sim_world *sim_world;
void (*sim_do_task)(struct sim_task *task);
void (*sim_leave_run)(void);

/* Not mmap(3): a sanitizer would replace it, and refuse an address that it does not know. */
int sim_map_world(int fd, void (*do_task)(struct sim_task *task))
{
	long at = sim_system(SYS_mmap, SIM_WORLD_ADDRESS, SIM_WORLD_SIZE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);

	if (at < 0)
		return errno;
	if ((unsigned long)at != SIM_WORLD_ADDRESS)
		return EEXIST;
	sim_world = (struct sim_world *)SIM_WORLD_ADDRESS;
	sim_do_task = do_task;
	return 0;
}

int sim_create_world(void (*do_task)(struct sim_task *task))
{
	int fd = memfd_create("verbs-sim", MFD_CLOEXEC), kind;

	if (fd < 0 || ftruncate(fd, SIM_WORLD_SIZE))
		return -1;
	errno = sim_map_world(fd, do_task);
	if (errno)
		return -1;
	sim_world->used = sizeof(*sim_world);
	sim_world->hash = 14695981039346656037ull; /* FNV-1a's first value */
	sim_world->next_port = 32768;
	TAILQ_INIT(&sim_world->tasks);
	for (kind = 0; kind < SIM_MOST_KINDS; kind++)
		TAILQ_INIT(&sim_world->objects[kind]);
	return fd;
}

static void hash_byte(uint8_t byte)
{
	sim_world->hash = (sim_world->hash ^ byte) * 1099511628211ull; /* FNV-1a */
}

void sim_note(const char *what, uint64_t value)
{
	int i;

	for (; *what; what++)
		hash_byte((uint8_t)*what);
	for (i = 0; i < 64; i += 8)
		hash_byte((uint8_t)(value >> i));
}

/* ---- Occurrences: the text of each, and how often ---- */

static void count_text(const char *text)
{
	struct sim_covered *one = sim_world->covered;

	for (; one < sim_world->covered + SIM_MOST_COVERED; one++) {
		if (*one->text && strcmp(one->text, text))
			continue;
		strcpy(one->text, text);
		one->times++;
		return;
	}
}

void sim_cover(const char *format, ...)
{
	char text[sizeof(sim_world->covered->text)];
	va_list arguments;

	if (!sim_world->covered)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	count_text(text);
}

void sim_cover_call(const char *name, bool failed)
{
	sim_cover("call %s", name);
	if (failed)
		sim_cover("failed %s", name);
}

void sim_cover_event(struct sim_program *program, const char *what, const char *name, bool bad)
{
	char event[sizeof(program->last_event)];

	if (bad && !*program->first_error)
		snprintf(program->first_error, sizeof(program->first_error), "%s", name);
	if (!sim_world->covered)
		return;
	snprintf(event, sizeof(event), "%s %s", what, name);
	sim_cover("%s", event);
	/* Events of the connection manager have an order of their own. */
	if (*program->last_event && strcmp(program->last_event, event) &&
	    (strncmp(program->last_event, what, strlen(what)) || !strcmp(what, "completion")))
		sim_cover("program %d: %s, %s", program->number, program->last_event, event);
	strcpy(program->last_event, event);
}

/* ---- Texts for the last line ---- */

static void decide(enum sim_verdict verdict, const char *format, va_list arguments)
{
	if (sim_world->verdict)
		return;
	sim_world->verdict = verdict;
	vsnprintf(sim_world->reason, sizeof(sim_world->reason), format, arguments);
}

void sim_decide(enum sim_verdict verdict, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	decide(verdict, format, arguments);
	va_end(arguments);
}

void sim_ask_helper(enum sim_wanted wanted)
{
	uint32_t *word = &sim_world->help.wanted;

	__atomic_store_n(word, wanted, __ATOMIC_RELEASE);
	sim_system(SYS_futex, word, FUTEX_WAKE, 1, 0L, 0L, 0);
	while (wanted == SIM_WANTS_COPY && __atomic_load_n(word, __ATOMIC_ACQUIRE) == wanted)
		sim_system(SYS_futex, word, FUTEX_WAIT, wanted, 0L, 0L, 0);
}

/* Inside a program, kill(2) would be the replacement of calls/. */
int sim_signal_runner(int number)
{
	int ret = (int)sim_system(SYS_kill, sim_world->runner_pid, number);

	if (!ret || errno != EPERM)
		return ret;
	if (number) /* the runner exists, but belongs to another user */
		sim_ask_helper(SIM_WANTS_RUNNER);
	return 0;
}

void sim_give_up(enum sim_verdict verdict, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	decide(verdict, format, arguments);
	va_end(arguments);
	sim_world->running = &sim_world->runner;
	if (sim_leave_run)
		sim_leave_run();
	sim_signal_runner(SIGUSR1);
	for (;;)
		sim_system(SYS_ppoll, 0L, 0, 0L, 0L, 0);
}

static void trace(const struct sim_program *program, const char *who, const char *format,
		  va_list arguments)
{
	char text[160], line[240];
	int length;

	vsnprintf(text, sizeof(text), format, arguments);
	length = snprintf(line, sizeof(line), "[%12.3f us] %d.%s%s\n",
			  (double)sim_world->now_ns / 1000, program->number, who, text);
	sim_system(SYS_write, STDERR_FILENO, line, length);
}

void sim_trace_device(const struct sim_program *program, const char *format, ...)
{
	char who[40];
	va_list arguments;

	if (!sim_world->trace)
		return;
	snprintf(who, sizeof(who), "0 %6llu = ", (unsigned long long)program->calls);
	va_start(arguments, format);
	trace(program, who, format, arguments);
	va_end(arguments);
}

void sim_trace_event(const struct sim_program *program, const char *format, ...)
{
	va_list arguments;

	if (!sim_world->draws)
		return;
	va_start(arguments, format);
	trace(program, "device 0 ", format, arguments);
	va_end(arguments);
}

/* Appends a part to a text, unless it is there already. */
static void append(char *text, size_t size, const char *part)
{
	size_t used = strlen(text);

	if (!strstr(text, part))
		snprintf(text + used, size - used, "%s%s", used ? "; " : "", part);
}

void sim_report_fault(const char *format, ...)
{
	va_list arguments;
	char part[128];

	va_start(arguments, format);
	vsnprintf(part, sizeof(part), format, arguments);
	va_end(arguments);
	append(sim_world->done, sizeof(sim_world->done), part);
	sim_cover("fault %s", part);
	sim_trace_event(sim_world->running->program, "fault: %s", part);
}

void sim_report_missing(const char *format, ...)
{
	va_list arguments;
	char part[64];

	va_start(arguments, format);
	vsnprintf(part, sizeof(part), format, arguments);
	va_end(arguments);
	append(sim_world->missing, sizeof(sim_world->missing), part);
}

static bool is_allowed(const char *finding)
{
	char name[32];

	snprintf(name, sizeof(name), " %.*s ", (int)strcspn(finding, ":"), finding);
	return strstr(sim_world->allowed, name);
}

void sim_blame(const struct sim_program *program, const char *format, ...)
{
	va_list arguments;
	char part[240];
	int begin = snprintf(part, sizeof(part), "program %d: ", program->number);

	if (is_allowed(format))
		return;
	va_start(arguments, format);
	vsnprintf(part + begin, sizeof(part) - (size_t)begin, format, arguments);
	va_end(arguments);
	append(sim_world->wrong, sizeof(sim_world->wrong), part);
	sim_trace_event(program, "wrong: %s", part + begin);
}
