/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: support for tests that run programs. Contract: each program is a process of its own, its
 * output is kept in memory, each wait has a deadline and fails the Check test that waits, and no
 * process outlives the test that started it.
 */
#ifndef TEST_PROCESS_H
#define TEST_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#define PROCESS_SECONDS 90 /* a wait that is meant to end; emulated machines are slow */

enum process_stream {
	PROCESS_OUT,
	PROCESS_ERR,
};

struct process {
	const char *name;
	pid_t pid;
	int pidfd;
	int streams[2]; /* memory files: enum process_stream */
	bool ended;
	int status; /* as waitpid(2) gives it, once ended */
};

/* The arguments of a program, in place: PROCESS_ARGUMENTS("-c", "5"). */
#define PROCESS_ARGUMENTS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/*
 * Starts the program whose path is `name`, with the arguments up to NULL in each of the two lists.
 * `prepare`, unless NULL, runs in the new process just before. Fails the test if it cannot.
 */
struct process *process_start(const char *name, const char *const *arguments,
			      const char *const *more, void (*prepare)(void));

/* Waits until it has ended: true, or false after so many milliseconds. */
bool process_ended(struct process *process, int milliseconds);

/* Waits until one of the two has ended; returns that one. */
struct process *process_first_ended(struct process *one, struct process *two);

/* Waits until it has ended by itself, and returns its exit status. */
int process_exit_status(struct process *process);

/* Waits until a stream holds `text` at least `times` times, which it must before the end. */
void process_await_text(struct process *process, enum process_stream stream, const char *text,
			unsigned int times);

/* All that is in the stream now; valid until the next call for the same stream. */
const char *process_text(struct process *process, enum process_stream stream);

void process_signal(struct process *process, int signal_number);

/* "VmHWM" and the like from /proc/PID/status, in KiB. The process must be running. */
unsigned long process_status_kib(struct process *process, const char *field);

/* Fails the test with `what`, and shows what all processes had to say. */
void process_fail(const char *what, ...) __attribute__((format(printf, 1, 2), noreturn));

#define process_assert(condition, ...)             \
	do {                                       \
		if (!(condition))                  \
			process_fail(__VA_ARGS__); \
	} while (0)

/* Kills, by pid, what is still running, and forgets all. For a fixture's tear-down. */
void process_end_all(void);

#endif
