/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: preloaded into programs under test by tests/live. Contract: counts the calls that allocate
 * memory, and writes their number to stderr when the program ends. It calls glibc's allocator by the
 * names that glibc itself has for it.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_ulong allocations;

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
	allocations++;
	return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
	allocations++;
	return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	allocations++;
	return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
	*memory = aligned_alloc(alignment, size);
	return *memory ? 0 : 12; /* ENOMEM */
}

__attribute__((destructor)) static void say(void)
{
	fprintf(stderr, "allocations: %lu\n", allocations);
}
