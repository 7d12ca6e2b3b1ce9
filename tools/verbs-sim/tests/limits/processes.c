/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Processes: children that there are not, that have ended, or are killed. See limits.h.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs-sim/tests/limits/limits.h"

/* The child ends when it has read a byte. */
static void await_end(const int ends[2])
{
	siginfo_t info = { 0 };
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(read(ends[0], &status, 1) == 1 ? 0x1ff : 0);
	SHOW(waitpid(pid, &status, WNOHANG));
	SHOW(kill(pid, 0));
	SHOW(write(ends[1], "", 1));
	SHOW(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
	SHOW(info.si_status);
	SHOW(waitpid(-1, &status, 0) == pid);
	SHOW(status);
	SHOW(waitpid(pid, &status, 0));
	SHOW(kill(pid, 0));
}

static void kill_child(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		pause();
	SHOW(kill(pid, SIGTERM));
	SHOW(wait4(pid, &status, 0, NULL) == pid);
	SHOW(status);
}

void show_children(void)
{
	int status, ends[2];

	SHOW(wait(&status));
	SHOW(waitpid(-1, &status, WNOHANG));
	SHOW(waitpid(1, &status, 0));
	SHOW(pipe(ends));
	await_end(ends);
	kill_child();
	SHOW(system("exit 255"));
	SHOW(system("kill -KILL $$"));
	SHOW(pclose(popen("exit 3", "r")));
	SHOW(close(ends[0]) | close(ends[1]));
	SHOW(execl("/no/such/file", "file", NULL));
}
