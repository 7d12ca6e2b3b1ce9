/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * enter FOLDER USER FILE PROGRAM [ARGUMENT...]: runs a program of the submission over the simulated
 * device, with FOLDER as its root and USER as its user and group. What it says on stderr goes to FILE,
 * and to nobody else; what it prints is lost. Linked statically: it is no part of the simulation.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define WORLD    "VERBS_SIM_WORLD"
#define WORLD_FD 100 /* the program leaves this descriptor alone */

static int fail(const char *what)
{
	fprintf(stderr, "enter: %s: %s\n", what, strerror(errno));
	return 125;
}

int main(int argc, char **argv)
{
	const char *world = getenv(WORLD);
	char path[40];
	uid_t user;

	if (argc < 5 || !world) {
		errno = EINVAL;
		return fail("usage");
	}
	user = (uid_t)atoi(argv[2]);
	if (dup2(open(world, O_RDWR), WORLD_FD) < 0)
		return fail(world);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", WORLD_FD);
	setenv(WORLD, path, 1);
	if (dup2(open(argv[3], O_WRONLY | O_APPEND), STDERR_FILENO) < 0)
		return fail(argv[3]);
	if (dup2(open("/dev/null", O_RDWR), STDOUT_FILENO) < 0)
		return fail("/dev/null");
	close_range(STDERR_FILENO + 1, WORLD_FD - 1, 0);
	close_range(WORLD_FD + 1, ~0u, 0);
	if (chroot(argv[1]) || chdir("/"))
		return fail(argv[1]);
	if (setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user))
		return fail(argv[2]);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of the user has undone it */
	execv(argv[4], argv + 4);
	return fail(argv[4]);
}
