/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * See libc.h. The kernel of x86-64 makes RDTSC and RDTSCP raise SIGSEGV (PR_SET_TSC of prctl(2)), and a
 * handler carries them out. Any other SIGSEGV is left to whoever had the signal before. Some virtual
 * machines accept the setting and trap nothing.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

#if defined(__x86_64__)
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <x86intrin.h>

#define VDSO_BYTES 16384 /* more than any vDSO has */

static struct sigaction before;
static bool tries, traps;

/* Returns the length in bytes of the instruction, if it reads the counter, else 0. */
static size_t length_of(const uint8_t *code)
{
	if (code[0] == 0x0f && code[1] == 0x31)
		return 2;
	return code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9 ? 3 : 0;
}

/* Code that is not replaced, such as a sanitizer, calls the vDSO, which needs the true counter. */
static bool in_vdso(const uint8_t *code)
{
	uintptr_t start = getauxval(AT_SYSINFO_EHDR);

	return (uintptr_t)code - start < VDSO_BYTES;
}

static uint64_t true_counter(void)
{
	uint64_t ticks;

	prctl(PR_SET_TSC, PR_TSC_ENABLE);
	ticks = __rdtsc();
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	return ticks;
}

/*
 * A program that only reads the counter waits for a time, and a few reads reach it, as with other
 * clocks. A program that works between two reads may measure that: then a read takes as little as
 * possible.
 */
static uint64_t simulated_counter(void)
{
	static __thread uint64_t looked_ns, last_ns;
	struct timespec now;

	sim_me->looked_ns = sim_world->now_ns == last_ns ? looked_ns : 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	looked_ns = sim_me->looked_ns;
	last_ns = sim_world->now_ns;
	sim_me->looked_ns = 0;
	return sim_ns_of(&now);
}

/* The handler calls this, too, and must not look up a function for the first time. */
static int set_handler(const struct sigaction *action, struct sigaction *old)
{
	return REAL(sigaction)(SIGSEGV, action, old);
}

static void on_sigsegv(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uint8_t *code = (const uint8_t *)registers[REG_RIP];
	/* For a forbidden instruction the kernel gives no address, and has been able to read it. */
	size_t length = info->si_code == SI_KERNEL ? length_of(code) : 0;
	uint64_t ticks;

	(void)number;
	if (!length) {
		/* Returning lets the instruction raise the signal again, for its own handler. */
		set_handler(&before, NULL);
		return;
	}
	traps = true;
	ticks = sim_me && !tries && !in_vdso(code) ? simulated_counter() : true_counter();
	registers[REG_RAX] = (greg_t)(ticks & UINT32_MAX);
	registers[REG_RDX] = (greg_t)(ticks >> 32);
	if (length == 3)
		registers[REG_RCX] = 0; /* the number of the processor */
	registers[REG_RIP] += (greg_t)length;
}

/* Returns whether the counter is simulated from now on. */
static bool trap_counter(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_NODEFER };

	action.sa_sigaction = on_sigsegv;
	if (set_handler(&action, &before) || prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		return false;
	tries = true;
	__rdtsc();
	tries = false;
	if (!traps)
		prctl(PR_SET_TSC, PR_TSC_ENABLE); /* it may trap in the next program */
	return traps;
}

void sim_show_tsc(bool shown)
{
	if (traps)
		prctl(PR_SET_TSC, shown ? PR_TSC_ENABLE : PR_TSC_SIGSEGV);
}
#else
static size_t length_of(const uint8_t *code)
{
#if defined(__aarch64__)
	uint32_t instruction;

	memcpy(&instruction, code, sizeof(instruction));
	return (uintptr_t)code % 4 || (instruction & ~31u) != 0xd53be040 ? 0 : 4; /* CNTVCT_EL0 */
#else
	(void)code;
	return 0;
#endif
}

static bool trap_counter(void)
{
	return false;
}

void sim_show_tsc(bool shown)
{
	(void)shown;
}
#endif

/*
 * A sanitizer reads the clock while it blocks all signals, as that of gcc 14 does when a thread ends: if
 * the counter trapped then, the kernel would end the program. So its program has the real counter.
 */
static bool has_sanitizer(void)
{
	return dlsym(RTLD_DEFAULT, "__asan_init") || dlsym(RTLD_DEFAULT, "__tsan_init");
}

/*
 * On x86-64 these bytes may be a part of other instructions: 700 times in 74 MB of Debian's
 * programs. So this suffices for a warning, but not to replace the instruction.
 */
static bool may_read_counter(void)
{
	size_t size, i;
	const uint8_t *code = sim_program_code(&size);

	for (i = 0; i + sizeof(uint32_t) <= size; i++) {
		if (length_of(code + i))
			return true;
	}
	return false;
}

void sim_simulate_tsc(void)
{
	static bool done;

	if (done || !sim_me)
		return;
	done = true;
	sim_me->program->real_counter = !has_sanitizer() && !trap_counter() && may_read_counter();
}
