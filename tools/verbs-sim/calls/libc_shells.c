/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: shells that run a command, by posix_spawn(3).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

extern char **environ;

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return status;
}

EXPORTED int system(const char *command)
{
	char *argv[] = { "sh", "-c", (char *)(uintptr_t)command, NULL };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt = { 0 }, quit = { 0 };
	int ret, status = -1;
	pid_t pid;

	if (!sim_me || !command)
		return REAL(system)(command);
	REAL(sigaction)(SIGINT, &ignore, &interrupt);
	REAL(sigaction)(SIGQUIT, &ignore, &quit);
	ret = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
	if (ret)
		errno = ret;
	else
		status = wait_for(pid);
	REAL(sigaction)(SIGINT, &interrupt, NULL);
	REAL(sigaction)(SIGQUIT, &quit, NULL);
	return status;
}

/* A stream of the C library would wait for the pipe in real time, so this one calls our functions. */
struct shell {
	LIST_ENTRY(shell) link;
	FILE *stream;
	pid_t pid;
	int fd;
};
static LIST_HEAD(shells, shell) shells = LIST_HEAD_INITIALIZER(shells);

static ssize_t read_shell(void *cookie, char *data, size_t size)
{
	return read(((struct shell *)cookie)->fd, data, size);
}

static ssize_t write_shell(void *cookie, const char *data, size_t size)
{
	return write(((struct shell *)cookie)->fd, data, size);
}

static int close_shell(void *cookie)
{
	return close(((struct shell *)cookie)->fd);
}

/* Starts the shell with the other end of the pipe as its stdin or stdout. Returns 0 or an error. */
static int start_shell(struct shell *shell, const char *command, bool reads)
{
	char *argv[] = { "sh", "-c", (char *)(uintptr_t)command, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], ret;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	shell->fd = ends[!reads];
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[reads], reads);
	ret = posix_spawn(&shell->pid, "/bin/sh", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[reads]);
	if (ret)
		close(shell->fd);
	return ret;
}

EXPORTED FILE *popen(const char *command, const char *mode)
{
	cookie_io_functions_t calls = { read_shell, write_shell, NULL, close_shell };
	struct shell *shell;

	if (!sim_me)
		return REAL(popen)(command, mode);
	shell = calloc(1, sizeof(*shell));
	errno = shell ? start_shell(shell, command, *mode == 'r') : ENOMEM;
	if (errno) {
		free(shell);
		return NULL;
	}
	shell->stream = fopencookie(shell, *mode == 'r' ? "r" : "w", calls);
	LIST_INSERT_HEAD(&shells, shell, link);
	return shell->stream;
}

EXPORTED int pclose(FILE *stream)
{
	struct shell *shell = LIST_FIRST(&shells);
	int status;

	while (shell && shell->stream != stream)
		shell = LIST_NEXT(shell, link);
	if (!shell)
		return REAL(pclose)(stream);
	fclose(stream);
	status = wait_for(shell->pid);
	LIST_REMOVE(shell, link);
	free(shell);
	return status;
}

/* ---- Executing, by the two calls of libc_children.c that have an environment ---- */

#define MOST_WORDS 1024

EXPORTED int execv(const char *path, char *const *argv)
{
	return execve(path, argv, environ);
}

EXPORTED int execvp(const char *file, char *const *argv)
{
	return execvpe(file, argv, environ);
}

static int execute_list(int (*execute)(const char *file, char *const *argv), const char *file,
			const char *first, va_list list)
{
	char *argv[MOST_WORDS] = { (char *)(uintptr_t)first };
	int n = 0;

	while (n < MOST_WORDS - 1 && argv[n])
		argv[++n] = va_arg(list, char *);
	return argv[n] ? sim_fail(E2BIG) : execute(file, argv);
}

#define EXECUTE_LIST(name, execute)                               \
	EXPORTED int name(const char *file, const char *arg, ...) \
	{                                                         \
		va_list list;                                     \
		int ret;                                          \
		va_start(list, arg);                              \
		ret = execute_list(execute, file, arg, list);     \
		va_end(list);                                     \
		return ret;                                       \
	}
EXECUTE_LIST(execl, execv)
EXECUTE_LIST(execlp, execvp)
