/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: what the program itself allocates, not a library of it: memory, and what it needs of the
 * kernel as it begins. Such a call is counted, but is no place where another thread may go on.
 */
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

static uintptr_t code_begin, code_end; /* of the program */

/* The first object is the program. */
static int note_code(struct dl_phdr_info *info, size_t size, void *unneeded)
{
	int i;

	(void)size;
	(void)unneeded;
	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X))
			continue;
		code_begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		code_end = code_begin + info->dlpi_phdr[i].p_memsz;
	}
	return 1;
}

__attribute__((constructor)) static void learn_code(void)
{
	dl_iterate_phdr(note_code, NULL);
}

bool sim_is_program(uintptr_t place)
{
	return place >= code_begin && place < code_end;
}

const uint8_t *sim_program_code(size_t *size)
{
	*size = code_end - code_begin;
	return (const uint8_t *)code_begin;
}

static bool is_of_program(const void *caller)
{
	return sim_me && sim_is_program((uintptr_t)caller);
}

bool sim_fails_of_program(const char *name, int way, const void *caller)
{
	const int ways[] = { way, 0 };

	if (!is_of_program(caller))
		return false;
	sim_count(name);
	way = sim_commit_fault(name, ways);
	if (way)
		sim_set_errno(way);
	return way;
}

#define FAILS(name) sim_fails_of_program(SIM_NAME(name), ENOMEM, __builtin_return_address(0))

EXPORTED void *malloc(size_t size)
{
	return FAILS("malloc") ? NULL : REAL(malloc)(size);
}

EXPORTED void *calloc(size_t n, size_t size)
{
	return FAILS("calloc") ? NULL : REAL(calloc)(n, size);
}

EXPORTED void *realloc(void *memory, size_t size)
{
	return FAILS("realloc") ? NULL : REAL(realloc)(memory, size);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
	return FAILS("aligned_alloc") ? NULL : REAL(aligned_alloc)(alignment, size);
}

EXPORTED int posix_memalign(void **memory, size_t alignment, size_t size)
{
	return FAILS("posix_memalign") ? ENOMEM : REAL(posix_memalign)(memory, alignment, size);
}

/* dlsym(3) frees the text of an earlier error before it does anything else: that is for the caller. */
static void really_free(void *memory)
{
	static void (*real)(void *);
	static bool looks;

	if (!real && looks)
		return;
	looks = true;
	if (!real)
		real = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	real(memory);
}

EXPORTED void free(void *memory)
{
	if (memory && is_of_program(__builtin_return_address(0)))
		sim_check_end(sim_me->program, (uintptr_t)memory, malloc_usable_size(memory),
			      "freed");
	really_free(memory);
}

EXPORTED int eventfd(unsigned int count, int flags)
{
	if (sim_fails_of_program(SIM_NAME("eventfd"), EMFILE, __builtin_return_address(0)))
		return -1;
	return REAL(eventfd)(count, flags);
}
