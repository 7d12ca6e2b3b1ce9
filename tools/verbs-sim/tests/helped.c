/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * helped: asks the helper of verbs-sim --users, as a hostile program could, for more than another program
 * lets it have. Each line is an answer: the number of bytes that were copied, or -1.
 */
#include <dlfcn.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-sim/device/kinds.h"

#define PAGE 4096

static char here[2 * PAGE];

/* By libc's own function, because the simulation's would give the turn away. */
static long copy(bool writes, pid_t mine, pid_t other, const char *there, uint64_t length)
{
	struct sim_help *help = &((struct sim_world *)SIM_WORLD_ADDRESS)->help;
	long (*enter)(long number, ...);

	*(void **)&enter = dlsym(dlopen("libc.so.6", RTLD_LAZY), "syscall");
	help->mine = mine;
	help->other = other;
	help->here = (uint64_t)here;
	help->there = (uint64_t)there;
	help->length = length;
	help->writes = writes;
	__atomic_store_n(&help->wanted, SIM_WANTS_COPY, __ATOMIC_RELEASE);
	enter(SYS_futex, &help->wanted, FUTEX_WAKE, 1, NULL, NULL, 0);
	while (__atomic_load_n(&help->wanted, __ATOMIC_ACQUIRE) == SIM_WANTS_COPY)
		enter(SYS_futex, &help->wanted, FUTEX_WAIT, SIM_WANTS_COPY, NULL, NULL, 0);
	return help->moved;
}

int main(void)
{
	char *pages =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *world = (const char *)SIM_WORLD_ADDRESS; /* the runner has it, too */
	pid_t me = getpid(), runner = getppid();
	int writes;

	mprotect(pages + 2 * PAGE, PAGE, PROT_READ);
	for (writes = 0; writes < 2; writes++) {
		printf("%s its memory: %ld", writes ? "write" : "read",
		       copy(writes, me, me, pages, 2 * PAGE));
		printf(", a byte that is read-only: %ld, %ld",
		       copy(writes, me, me, pages + 1, 2 * PAGE),
		       copy(writes, me, me, pages + 2 * PAGE, 1));
		printf(", the runner's: %ld, %ld\n", copy(writes, me, runner, world, 1),
		       copy(writes, runner, me, pages, 1));
	}
	return 0;
}
