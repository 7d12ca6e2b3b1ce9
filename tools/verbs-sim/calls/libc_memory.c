/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: allocations of the program itself, not of its libraries, and its calls of the kernel as it
 * begins. Such a call is counted, but no other thread may go on at it. The memory that program and
 * libraries hold is counted apart.
 */
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"

static uintptr_t code_begin, code_end; /* the program's code */

/* Notes the code of the first object, which is the program. */
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
	sim_cover_call(name, way);
	if (way)
		sim_set_errno(way);
	return way;
}

#define FAILS(name) sim_fails_of_program(SIM_NAME(name), ENOMEM, __builtin_return_address(0))

/* ---- Held memory, for steps: all that was allocated since the program has joined the run ---- */

/*
 * The sizes that were asked for, by address: malloc_usable_size(3) depends on how the C library has
 * split its heap, and so on the lengths of paths. An address keeps its place; a block without one
 * does not count.
 */
static struct block {
	uintptr_t address;
	size_t asked; /* the size + 1; 0: not allocated now */
} known[1 << 18];

#define KNOWN (sizeof(known) / sizeof(*known))

static int64_t blocks, bytes;
static bool counting; /* AddressSanitizer must have begun, too */

static struct block *block_at(uintptr_t address)
{
	size_t i;

	for (i = 0; i < 64; i++) {
		struct block *block = &known[(address / 16 + i) % KNOWN];
		uintptr_t there = 0;

		if (__atomic_compare_exchange_n(&block->address, &there, address, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    there == address)
			return block;
	}
	return NULL;
}

static void count_block(int64_t more, int64_t more_bytes)
{
	more = __atomic_add_fetch(&blocks, more, __ATOMIC_RELAXED);
	more_bytes = __atomic_add_fetch(&bytes, more_bytes, __ATOMIC_RELAXED);
	if (sim_me) {
		sim_me->program->heap_blocks = more;
		sim_me->program->heap_bytes = more_bytes;
	}
}

static void *counted(void *memory, size_t size)
{
	struct block *block;

	counting |= sim_me != NULL;
	block = counting && memory ? block_at((uintptr_t)memory) : NULL;
	if (block) {
		block->asked = size + 1;
		count_block(1, (int64_t)size);
	}
	return memory;
}

/* Returns the size that the block counted with, or -1 if it did not count. */
static int64_t uncount(void *memory)
{
	struct block *block = counting && memory ? block_at((uintptr_t)memory) : NULL;
	int64_t size = block ? (int64_t)block->asked - 1 : -1;

	if (size >= 0) {
		block->asked = 0;
		count_block(-1, -size);
	}
	return size;
}

EXPORTED void *malloc(size_t size)
{
	return FAILS("malloc") ? NULL : counted(REAL(malloc)(size), size);
}

EXPORTED void *calloc(size_t n, size_t size)
{
	return FAILS("calloc") ? NULL : counted(REAL(calloc)(n, size), n * size);
}

EXPORTED void *realloc(void *memory, size_t size)
{
	int64_t before;
	void *moved;

	if (FAILS("realloc"))
		return NULL;
	before = uncount(memory);
	moved = REAL(realloc)(memory, size);
	if (!moved && size && before >= 0)
		counted(memory, (size_t)before);
	return counted(moved, size);
}

EXPORTED void *memalign(size_t alignment, size_t size)
{
	return counted(REAL(memalign)(alignment, size), size);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
	return FAILS("aligned_alloc") ? NULL : counted(REAL(aligned_alloc)(alignment, size), size);
}

EXPORTED int posix_memalign(void **memory, size_t alignment, size_t size)
{
	int ret = FAILS("posix_memalign") ? ENOMEM : REAL(posix_memalign)(memory, alignment, size);

	if (!ret)
		counted(*memory, size);
	return ret;
}

/* dlsym(3) first frees the text of an earlier error: for the caller, not for the simulation. */
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
	uncount(memory);
	really_free(memory);
}

EXPORTED int eventfd(unsigned int count, int flags)
{
	if (sim_fails_of_program(SIM_NAME("eventfd"), EMFILE, __builtin_return_address(0)))
		return -1;
	return REAL(eventfd)(count, flags);
}
