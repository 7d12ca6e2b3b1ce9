/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: children, which are programs of the run like all others, and waiting for their ends. What a
 * parent's objects of the device stay the parent's.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

extern char **environ;

/* ---- Beginnings ---- */

/* The child sleeps until its process is there: handlers of pthread_atfork(3) make calls before that. */
static struct sim_program *new_child(void)
{
	struct sim_program *child;

	if (sim_world->n_programs == SIM_MOST_PROGRAMS)
		sim_give_up(SIM_VERDICT_BROKEN, "more than %d programs", SIM_MOST_PROGRAMS);
	child = sim_new_program(SIM_THREAD_ASLEEP);
	child->main_thread->awaited[child->main_thread->n_awaited++] = child->main_thread;
	child->main_thread->deadline_ns = SIM_FOREVER;
	child->parent = sim_me->program;
	child->forked = child->may_leave_objects = true;
	memcpy(child->streams, sim_me->program->streams, sizeof(child->streams));
	child->main_thread->blocked_signals = sim_me->blocked_signals;
	return child;
}

static void begin_child(struct sim_thread *thread)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", thread->program->number);
	setenv(SIM_PROGRAM_VARIABLE, number, 1); /* the child may execute another program */
	sim_me = thread;
	sim_await_turn(thread);
}

/* In the child, such handlers are no thread of the simulation, and must not act as its parent's. */
static void forget_parent(void)
{
	sim_me = NULL;
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_parent);
}

EXPORTED pid_t fork(void)
{
	struct sim_program *child;
	pid_t pid;

	if (!sim_me)
		return REAL(fork)();
	SIM_CALL_OR(-1, "fork", EAGAIN, ENOMEM);
	child = new_child();
	pid = REAL(fork)();
	if (pid < 0)
		sim_give_up(SIM_VERDICT_BROKEN, "fork: %s", strerror(errno));
	if (!pid) {
		begin_child(child->main_thread);
		return 0;
	}
	child->pid = pid;
	child->main_thread->state = SIM_THREAD_READY;
	sim_signal_runner(SIGUSR1); /* the runner has to notice the end */
	return pid;
}

/* The child has memory of its own, which a program that uses vfork(2) as it should cannot tell. */
EXPORTED pid_t vfork(void)
{
	return sim_me ? fork() : REAL(vfork)();
}

/* Copies an environment, with `variable`, "NAME=value", in the place of its variable of that name. */
static char **environment_with(char *const *others, char *variable)
{
	size_t length = strcspn(variable, "=") + 1, n = 0, kept = 0, i;
	char **all;

	while (others[n])
		n++;
	all = calloc(n + 2, sizeof(*all));
	for (i = 0; all && i < n; i++) {
		if (strncmp(others[i], variable, length))
			all[kept++] = others[i];
	}
	if (all)
		all[kept] = variable;
	return all;
}

/* A shell passes on its own environment, which has the number of the program that forked. */
static int execute(int (*real)(const char *path, char *const *argv, char *const *envp),
		   const char *path, char *const *argv, char *const *envp)
{
	char variable[sizeof(SIM_PROGRAM_VARIABLE) + 16], **environment;

	snprintf(variable, sizeof(variable), "%s=%d", SIM_PROGRAM_VARIABLE,
		 sim_me->program->number);
	environment = environment_with(envp, variable);
	if (!environment)
		return sim_fail(ENOMEM);
	sim_show_tsc(true);
	real(path, argv, environment);
	sim_show_tsc(false);
	free(environment);
	return -1;
}

EXPORTED int execve(const char *path, char *const *argv, char *const *envp)
{
	return sim_me ? execute(REAL(execve), path, argv, envp) : REAL(execve)(path, argv, envp);
}

EXPORTED int execvpe(const char *file, char *const *argv, char *const *envp)
{
	return sim_me ? execute(REAL(execvpe), file, argv, envp) : REAL(execvpe)(file, argv, envp);
}

typedef int (*spawn)(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attr, char *const *argv, char *const *envp);

/*
 * Makes the real call. The child waits for its first turn (SIM_SPAWNED), because unlike a forked
 * child it does not return into our library.
 */
static int spawn_child(spawn real, pid_t *pid, const char *path,
		       const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
		       char *const *argv, char *const *envp)
{
	char variable[sizeof(SIM_PROGRAM_VARIABLE) + 16];
	int ret = SIM_CALL("posix_spawn", EAGAIN, ENOMEM);
	struct sim_program *child;
	char **environment;
	pid_t started;

	if (ret)
		return ret;
	child = new_child();
	snprintf(variable, sizeof(variable), "%s=%d%c", SIM_PROGRAM_VARIABLE, child->number,
		 SIM_SPAWNED);
	environment = environment_with(envp ? envp : environ, variable);
	sim_show_tsc(true);
	ret = environment ? real(&started, path, actions, attr, argv, environment) : ENOMEM;
	sim_show_tsc(false);
	free(environment);
	if (ret) {
		child->main_thread->state = SIM_THREAD_UNUSED;
		child->state = SIM_PROGRAM_ENDED;
		child->parent = NULL;
		return ret;
	}
	child->pid = started;
	child->main_thread->state = SIM_THREAD_READY;
	sim_signal_runner(SIGUSR1);
	if (pid)
		*pid = started;
	return 0;
}

EXPORTED int posix_spawn(pid_t *restrict pid, const char *restrict path,
			 const posix_spawn_file_actions_t *restrict actions,
			 const posix_spawnattr_t *restrict attr, char *const *restrict argv,
			 char *const *restrict envp)
{
	if (!sim_me)
		return REAL(posix_spawn)(pid, path, actions, attr, argv, envp);
	return spawn_child(REAL(posix_spawn), pid, path, actions, attr, argv, envp);
}

EXPORTED int posix_spawnp(pid_t *restrict pid, const char *restrict file,
			  const posix_spawn_file_actions_t *restrict actions,
			  const posix_spawnattr_t *restrict attr, char *const *restrict argv,
			  char *const *restrict envp)
{
	if (!sim_me)
		return REAL(posix_spawnp)(pid, file, actions, attr, argv, envp);
	return spawn_child(REAL(posix_spawnp), pid, file, actions, attr, argv, envp);
}

/* ---- Ends ---- */

/*
 * Returns the child with this process id, or, if that is -1, the first that has ended, else any;
 * NULL: there is none. Process groups are not simulated.
 */
static struct sim_program *find_child(pid_t pid)
{
	struct sim_program *one, *any = NULL;
	int i;

	if (pid < -1)
		sim_unknown("waiting for a process group");
	for (i = sim_world->n_programs - 1; i >= 0; i--) {
		one = &sim_world->programs[i];
		if (one->parent != sim_me->program || (pid > 0 && one->pid != pid))
			continue;
		if (!any || one->state == SIM_PROGRAM_ENDED)
			any = one;
		if (pid > 0)
			break;
	}
	return any;
}

/* Waits for the end of a child, and does not reap it. Returns NULL and errno, or 0. */
static struct sim_program *await_child(pid_t pid, int options)
{
	const void *awaited = sim_me->program;
	struct sim_program *child;

	for (;;) {
		child = find_child(pid);
		errno = child ? 0 : ECHILD;
		if (!child || child->state == SIM_PROGRAM_ENDED)
			return child;
		if (options & WNOHANG) {
			sim_idle(awaited);
			errno = 0;
			return NULL;
		}
		if (sim_block(awaited, SIM_FOREVER) && !sim_restarts()) {
			errno = EINTR;
			return NULL;
		}
	}
}

static pid_t reap(pid_t pid, int *status, int options, struct rusage *usage)
{
	int saved = errno;
	struct sim_program *child = await_child(pid, options);

	if (!child)
		return errno ? -1 : 0;
	errno = saved;
	pid = REAL(wait4)(child->pid, status, 0, usage);
	child->parent = NULL; /* nobody can wait for the child any more */
	return pid;
}

EXPORTED pid_t waitpid(pid_t pid, int *status, int options)
{
	if (!sim_me)
		return REAL(waitpid)(pid, status, options);
	SIM_CALL_OR(-1, "waitpid", EINTR, ECHILD);
	return reap(pid, status, options, NULL);
}

EXPORTED pid_t wait(int *status)
{
	return sim_me ? waitpid(-1, status, 0) : REAL(wait)(status);
}

EXPORTED pid_t wait3(int *status, int options, struct rusage *usage)
{
	if (!sim_me)
		return REAL(wait3)(status, options, usage);
	SIM_CALL_OR(-1, "wait3", EINTR, ECHILD);
	return reap(-1, status, options, usage);
}

EXPORTED pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	if (!sim_me)
		return REAL(wait4)(pid, status, options, usage);
	SIM_CALL_OR(-1, "wait4", EINTR, ECHILD);
	return reap(pid, status, options, usage);
}

EXPORTED int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	struct sim_program *child;
	int saved = errno;

	if (!sim_me)
		return REAL(waitid)(type, id, info, options);
	SIM_CALL_OR(-1, "waitid", EINTR, ECHILD);
	if (type != P_PID && type != P_ALL)
		sim_unknown("waitid for other than a process or all");
	child = await_child(type == P_PID ? (pid_t)id : -1, options);
	if (!child && errno)
		return -1;
	errno = saved;
	if (child && !(options & WNOWAIT))
		child->parent = NULL;
	return REAL(waitid)(P_PID, child ? (id_t)child->pid : id, info,
			    child ? options : options | WNOHANG);
}
