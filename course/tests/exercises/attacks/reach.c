/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Says what it can do to other processes, and which files and descriptors of theirs it has. See
 * ../in_jail.py.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_PID 1000

static void try_process(int pid)
{
	static const char *const names[] = { "exe", "root", "cwd", "mem", "maps", "environ", "fd" };
	char path[64], byte;
	struct iovec local = { &byte, 1 }, remote = { &byte, 1 };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, names[i]);
		if (open(path, O_RDONLY) >= 0)
			fprintf(stderr, "opens %s; ", path);
	}
	if (!kill(pid, 0))
		fprintf(stderr, "may kill %d; ", pid);
	if (!ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		fprintf(stderr, "may trace %d; ", pid);
	if (syscall(SYS_process_vm_readv, pid, &local, 1L, &remote, 1L, 0L) > 0)
		fprintf(stderr, "may read the memory of %d; ", pid);
}

int main(void)
{
	static const char *const files[] = { "/work/project/secret", "/../work/project/secret",
					     "/submission/work" };
	int pid, fd;
	size_t i;

	for (fd = 3; fd < 1024; fd++) {
		if (fd != 100 && fcntl(fd, F_GETFD) >= 0)
			fprintf(stderr, "has descriptor %d; ", fd);
	}
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!access(files[i], F_OK))
			fprintf(stderr, "sees %s; ", files[i]);
	}
	for (pid = 1; pid < MOST_PID; pid++) {
		if (pid != getpid())
			try_process(pid);
	}
	fprintf(stderr, "uid %d\n", (int)getuid());
	return 0;
}
