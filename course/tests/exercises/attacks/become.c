/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Before any constructor runs, the program becomes the project's own, wherever that can be executed:
 * as a file, or as what another process runs. See ../dishonest.py.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STAGE "ping-sr-2e"

static void become(int argc, char **argv, char **envp)
{
	const char *role = strrchr(argv[0], '/') + 1;
	char path[100];
	int pid;

	(void)argc;
	sprintf(path, "/work/project/" STAGE "/%s", role);
	execve(path, argv, envp);
	for (pid = 1; pid < 1000; pid++) {
		sprintf(path, "/proc/%d/root/work/project/" STAGE "/%s", pid, role);
		execve(path, argv, envp);
		sprintf(path, "/proc/%d/cwd/" STAGE "/%s", pid, role);
		execve(path, argv, envp);
	}
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **,
									    char **) = become;
