/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of common/device.c and common/memory.c: the messages and the
 * results when the machine has no more queues or memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/private.h"
#include "program/config.h"
#include "tests/unit/unit.h"
#include "tests/unit/verbs.h"

static const struct our_config config = { .report = our_print_error };

/* verbs.h has a macro of this name, which calls one of two functions. */
#undef ibv_reg_mr

static int registering_fails;
static rlim_t lockable;

void unit_set_lockable(uint64_t bytes)
{
	lockable = bytes;
}

/* These functions replace those of the libraries. */
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *data, size_t length, int access)
{
	(void)pd, (void)data, (void)length, (void)access;
	errno = registering_fails;
	return NULL;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *data, size_t length, uint64_t iova,
				unsigned int access)
{
	(void)iova;
	return ibv_reg_mr(pd, data, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	(void)mr;
	return 0;
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	if (resource != RLIMIT_MEMLOCK)
		return prlimit(0, resource, NULL, limit);
	limit->rlim_cur = limit->rlim_max = lockable;
	return 0;
}

static const struct {
	int error;
	rlim_t lockable;
	const char *said;
} no_memory[] = {
	{ ENOMEM, 65536, "4097 bytes are to be locked, and the limit on locked memory is 65536" },
	{ ENOMEM, RLIM_INFINITY, "(12): registering 4097 bytes\n" },
	{ EACCES, 65536, "(13): registering 4097 bytes\n" },
};

UNIT_TESTS(memory_that_cannot_be_registered, UNIT_LENGTH(no_memory))
{
	static struct our_control control = { .config = &config };
	struct ibv_mr *mr;

	registering_fails = no_memory[_i].error;
	lockable = no_memory[_i].lockable;
	capture_start();
	ck_assert_int_eq(our_setup_mr(&control, &control, 4097, 0, &mr), no_memory[_i].error);
	assert_holds(captured_stderr(), ": ibv_reg_mr: ");
	assert_holds(captured_stderr(), no_memory[_i].said);
}

/* docs/reliability.md says: whole pages, and a place in the queues for each message. */
static const struct {
	uint32_t size, n;
	uint64_t pages;
} taken[] = {
	{ 1, 1, 1 },   { 64, 64, 1 },       { 64, 65, 2 },
	{ 65, 64, 2 }, { 1 << 20, 3, 768 }, { (1u << 31) - 1, 65536, 1ull << 35 },
};

UNIT_TESTS(the_memory_that_a_client_is_charged_with, UNIT_LENGTH(taken))
{
	ck_assert_uint_eq(our_memory_of_buffers(taken[_i].n, taken[_i].size),
			  taken[_i].pages * 4096 +
				  taken[_i].n * (uint64_t)(sizeof(struct our_buffer) + 384));
}

/* The most that a size_t holds, and more, whatever its length is on this machine. */
static const struct {
	uint64_t n, size;
	bool fits;
} products[] = {
	{ 0, 64, true },
	{ 3, 64, true },
	{ SIZE_MAX, 1, true },
	{ SIZE_MAX / 64, 64, true },
	{ (uint64_t)SIZE_MAX / 64 + 1, 64, false },
	{ (uint64_t)SIZE_MAX / 2 + 1, 2, false },
	{ SIZE_MAX, SIZE_MAX, false },
};

UNIT_TESTS(buffers_that_no_memory_can_hold, UNIT_LENGTH(products))
{
	size_t length = 0;

	ck_assert_int_eq(our_fits_in_memory(products[_i].n, products[_i].size, &length),
			 products[_i].fits);
	if (products[_i].fits)
		ck_assert_uint_eq(length / products[_i].size, products[_i].n);
}

/* our_close frees those that are left. */
UNIT_TEST(buffers_that_were_freed_are_gone)
{
	struct our_control control = { .config = &config, .memory.n_buffers = 1 };

	control.memory.buffers = calloc(1, sizeof(*control.memory.buffers));
	our_unsetup_buffers(&control);
	ck_assert_ptr_null(control.memory.buffers);
}
