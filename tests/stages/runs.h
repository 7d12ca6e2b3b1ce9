/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests. Contract: starts a stage's server and client in a setting, knows what
 * their results must be, and checks before and after each test that no RDMA resource is left.
 */
#ifndef STAGES_RUNS_H
#define STAGES_RUNS_H

#include <check.h>

#include "tests/stages/table.h"
#include "tests/support/process.h"
#include "tests/support/result_json.h"

#define RUN_LONG "1000000000" /* as -c: a run that only a signal ends */

#define RUN_LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* A test case with the fixtures and the time limit of all; mostly it has the name of a setting. */
TCase *run_tcase(const char *name);

/*
 * A server and a client of the setting, on its address and port. The arguments in `agreed` are
 * for the client, and for the server of a stage that does not negotiate (-c, -s, -D); those in
 * `own` are for this one only.
 */
struct process *start_server(struct setting at, const char *const *agreed, const char *const *own);
struct process *start_client(struct setting at, const char *const *agreed, const char *const *own);

/* Waits until the server listens. */
void await_listening(struct process *server);

/* Waits until a client without a server, traced, has tried to connect. */
void await_first_attempt(struct setting at, struct process *client);

/*
 * Starts both for a run without end, and waits until messages are measured. Both write JSON; to
 * `own` goes for both.
 */
void start_long_run(struct setting at, const char *const *own, struct process **server,
		    struct process **client);

/* Waits until it ends by itself, with that exit status. */
void assert_exit(struct process *process, int status);

/*
 * Asks it to stop by `signal`. Where nobody looks at the CM while the CQ is polled, the peer does not
 * answer, and who leaves would stay for 7 s: a second signal ends that.
 */
void stop_in_mid_run(struct setting at, struct process *process, int signal);

/* Asks it to stop, if it still runs; it must obey, and its exit status may be 0 or 1. */
void stop_if_running(struct setting at, struct process *process);

/* The only result on a program's stdout, checked for its form; json_object_put(3) it. */
struct json_object *result_of(struct process *process);

/* Checks what a result says of who, where and what; `role` is "client" or "agent". */
void check_identity(struct json_object *result, struct setting at, const char *role, uint64_t size);

/* The same, of a run that went to its end, of `count` messages with the warm-up. */
void check_whole_run(struct json_object *result, struct setting at, const char *role, uint64_t size,
		     uint64_t count);

#endif
