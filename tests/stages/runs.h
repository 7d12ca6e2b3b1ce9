/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests. Contract: starts a stage's server and client in a setting, knows what
 * their results must be, and checks before and after each test that no RDMA resource is left over.
 */
#ifndef STAGES_RUNS_H
#define STAGES_RUNS_H

#include <check.h>

#include "tests/stages/table.h"
#include "tests/support/process.h"
#include "tests/support/result_json.h"

#define RUN_LONG "1000000000" /* for -c: the run ends only by a signal */

#define RUN_LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

/*
 * A test case with the fixtures and the time limit that all have; usually it has the name of a
 * setting.
 */
TCase *run_tcase(const char *name);

/*
 * A server and a client of the setting, on its address and port. The arguments in `agreed` are for
 * the client, and also for the server of a stage that does not negotiate (-c, -s, -D). The
 * arguments in `own` are for this program only.
 */
struct process *start_server(struct setting at, const char *const *agreed, const char *const *own);
struct process *start_client(struct setting at, const char *const *agreed, const char *const *own);

/* Waits until the server listens. */
void await_listening(struct process *server);

/* Waits until a client that has no server, and prints a trace, has tried to connect. */
void await_first_attempt(struct setting at, struct process *client);

/*
 * Starts both programs for a run without end, and waits until messages are measured. Both print
 * JSON; both get the arguments in `own`.
 */
void start_long_run(struct setting at, const char *const *own, struct process **server,
		    struct process **client);

/* Waits until it ends by itself, and checks that exit status. */
void assert_exit(struct process *process, int status);

/*
 * Asks it to stop, by `signal`. If the peer does not read CM events while it polls its CQ, it does
 * not answer the disconnect request, and the program would wait for 7 s: a second signal ends this
 * wait.
 */
void stop_in_mid_run(struct setting at, struct process *process, int signal);

/* Asks it to stop, if it still runs. It must end; its exit status may be 0 or 1. */
void stop_if_running(struct setting at, struct process *process);

/*
 * The only result on a program's stdout, whose form is checked; release it with json_object_put(3).
 */
struct json_object *result_of(struct process *process);

/*
 * Checks the fields of a result that name the programs, addresses and device; `role` is "client" or
 * "agent".
 */
void check_identity(struct json_object *result, struct setting at, const char *role, uint64_t size);

/* Also checks that the run was completed, with `count` messages including the warm-up. */
void check_whole_run(struct json_object *result, struct setting at, const char *role, uint64_t size,
		     uint64_t count);

#endif
