/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The helper of --users: a process of the runner's user, which wakes the runner, and copies between
 * the memories of programs, for programs of other users that may not. It copies only between
 * children of the runner, and only memory that its owner may write, so no program can read
 * another's code, or change the runner. See runner.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs-sim/runner/runner.h"

#define PIECE 65536 /* bytes copied at once */

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return fopen(path, "re");
}

static bool is_program(pid_t pid, pid_t runner)
{
	FILE *file = open_proc(pid, "status");
	char line[256];
	int parent = 0;

	while (file && fgets(line, sizeof(line), file) && !sscanf(line, "PPid: %d", &parent))
		;
	if (file)
		fclose(file);
	return parent == runner;
}

/* Returns true if a program may itself write to all of this memory. */
static bool may_write(pid_t pid, uint64_t address, uint64_t length)
{
	FILE *file = open_proc(pid, "maps");
	uint64_t begin, end, wanted = address + length;
	char line[512], may[5];

	while (file && address < wanted && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &begin, &end, may) == 3 &&
		    begin <= address && address < end && may[1] == 'w')
			address = end;
	}
	if (file)
		fclose(file);
	return address >= wanted;
}

static int64_t copy(const struct sim_help *asked, pid_t runner)
{
	const struct sim_help help = *asked; /* the program may change it meanwhile */
	static uint8_t piece[PIECE];
	uint64_t done, length;
	struct iovec local = { .iov_base = piece }, from, to;
	pid_t reads = help.writes ? help.mine : help.other;
	pid_t writes = help.writes ? help.other : help.mine;

	if (!is_program(help.mine, runner) || !is_program(help.other, runner) ||
	    !may_write(help.other, help.there, help.length))
		return -1;
	for (done = 0; done < help.length; done += length) {
		length = help.length - done < PIECE ? help.length - done : PIECE;
		local.iov_len = from.iov_len = to.iov_len = length;
		from.iov_base = (void *)((help.writes ? help.here : help.there) + done);
		to.iov_base = (void *)((help.writes ? help.there : help.here) + done);
		if (process_vm_readv(reads, &local, 1, &from, 1, 0) != (ssize_t)length ||
		    process_vm_writev(writes, &local, 1, &to, 1, 0) != (ssize_t)length)
			return -1;
	}
	return (int64_t)done;
}

static void serve(pid_t runner)
{
	uint32_t *word = &sim_world->help.wanted, wanted;

	for (;;) {
		wanted = __atomic_load_n(word, __ATOMIC_ACQUIRE);
		if (wanted == SIM_WANTS_COPY)
			sim_world->help.moved = copy(&sim_world->help, runner);
		/* Another request may have replaced this one. */
		if (wanted && __atomic_compare_exchange_n(word, &wanted, SIM_WANTS_NOTHING, false,
							  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
		if (wanted == SIM_WANTS_RUNNER)
			kill(runner, SIGUSR1);
		if (!wanted)
			syscall(SYS_futex, word, FUTEX_WAIT, SIM_WANTS_NOTHING, NULL, NULL, 0);
	}
}

pid_t sim_start_helper(void)
{
	pid_t runner = getpid(), helper = fork();

	if (helper)
		return helper;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	serve(runner);
	_exit(0);
}

void sim_end_helper(pid_t helper)
{
	if (helper <= 0)
		return;
	kill(helper, SIGKILL);
	waitpid(helper, NULL, 0);
}
