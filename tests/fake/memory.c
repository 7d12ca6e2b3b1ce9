/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, memory that the program allocates. Contract: each allocation can be made to
 * fail; one that is never freed is reported, also if something still points to it. LeakSanitizer's
 * search, which takes several times as long as the run, is left out unless there are too many to count.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/libc.h"
#include "tests/fake/state.h"

#define MAX_HELD 256

/* The program's allocations. If more are held at a time than fit here, LeakSanitizer searches. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t held[MAX_HELD]; /* inverted: LeakSanitizer takes them for no references */
static unsigned int n_held;
static bool too_many;

bool fake_all_freed(void)
{
	return !n_held && !too_many;
}

void fake_judge_memory(void)
{
	if (n_held)
		fake_complain("%u blocks of memory were never freed", n_held);
}

/* LeakSanitizer calls this at the end of the process. The runner's own memory does not matter. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return fake_all_freed();
}

static void hold(const void *memory)
{
	if (!memory || !fake_report || fake_over)
		return;
	pthread_mutex_lock(&lock);
	if (n_held < MAX_HELD)
		held[n_held++] = ~(uintptr_t)memory;
	else
		too_many = true;
	pthread_mutex_unlock(&lock);
}

/* The fake's own allocations are not counted. */
static void let_go(const void *memory)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < n_held && held[i] != ~(uintptr_t)memory; i++)
		;
	if (i < n_held)
		held[i] = held[--n_held];
	pthread_mutex_unlock(&lock);
}

void *__wrap_malloc(size_t size)
{
	void *memory = fake_counted("malloc") ? NULL : __real_malloc(size);

	hold(memory);
	return memory;
}

void *__wrap_calloc(size_t n, size_t size)
{
	void *memory = fake_counted("calloc") ? NULL : __real_calloc(n, size);

	hold(memory);
	return memory;
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
	int error = fake_counted("posix_memalign");

	if (!error)
		error = __real_posix_memalign(memory, alignment, size);
	if (!error)
		hold(*memory);
	return error;
}

void __wrap_free(void *memory)
{
	let_go(memory);
	__real_free(memory);
}

/* A name with two addresses, which does not depend on the name service. */
int __wrap_getaddrinfo(const char *name, const char *port, const struct addrinfo *hints,
		       struct addrinfo **found)
{
	bool two = name && !strcmp(name, FAKE_TWO_ADDRESSES);
	int ret = __real_getaddrinfo(two ? "127.0.0.1" : name, port, hints, found);

	if (ret)
		return ret;
	hold(*found);
	return two ? __real_getaddrinfo("127.0.0.2", port, hints, &(*found)->ai_next) : 0;
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
	let_go(list);
	__real_freeaddrinfo(list);
}
