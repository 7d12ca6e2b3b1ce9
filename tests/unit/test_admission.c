/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/serve/admission.h: the limits that a server has for all its clients
 * together, and which ends of a client count as a failure of the server.
 */
#include <errno.h>
#include <linux/capability.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program/options.h"
#include "program/serve/admission.h"
#include "tests/unit/unit.h"

static struct our_admission admission;

static void open_with(uint64_t clients, uint64_t max_clients, uint64_t max_memory)
{
	const struct our_options options = { .clients = clients,
					     .max_clients = max_clients,
					     .max_memory = max_memory };

	our_open_admission(&admission, &options);
}

/* Takes the place of the library's pthread_cond_signal(3) in this program: who counts holds the lock. */
int pthread_cond_signal(pthread_cond_t *changed)
{
	if (changed == &admission.changed)
		ck_assert_int_eq(pthread_mutex_trylock(&admission.lock), EBUSY);
	return pthread_cond_broadcast(changed);
}

/* glibc counts what it has taken from mmap(2) in hblkhd. */
UNIT_TEST(memory_of_a_client_goes_back_to_the_system)
{
	const size_t size = 8 << 20;
	void *memory;
	int client;

	open_with(2, 10, 100);
	for (client = 0; client < 3; client++) {
		memory = malloc(size);
		ck_assert_ptr_nonnull(memory);
		ck_assert_uint_ge(mallinfo2().hblkhd, size);
		free(memory);
	}
}

UNIT_TEST(only_clients_that_were_accepted_count)
{
	open_with(2, 10, 100);
	ck_assert_int_eq(our_admit(&admission, 1), 0);
	ck_assert_int_eq(our_admit(&admission, 1), 0);
	ck_assert_int_eq(our_admit(&admission, 1), EUSERS);
	ck_assert(our_all_places_taken(&admission));
	our_note_leave(&admission, 1, false, EPROTO);
	ck_assert(!our_all_places_taken(&admission));
	ck_assert(our_await_place(&admission));
	ck_assert_int_eq(our_admit(&admission, 1), 0);
	our_note_acceptance(&admission);
	our_note_leave(&admission, 1, true, 0);
	ck_assert_int_eq(our_admit(&admission, 1), EUSERS);
	our_note_acceptance(&admission);
	ck_assert(!our_await_place(&admission)); /* although the second client is still connected */
	our_note_leave(&admission, 1, true, 0);
	ck_assert_int_eq(our_close_admission(&admission, 0), 0);
}

UNIT_TEST(so_many_at_a_time)
{
	open_with(0, 2, 100);
	ck_assert_int_eq(our_admit(&admission, 1), 0);
	ck_assert_int_eq(our_admit(&admission, 1), 0);
	ck_assert_int_eq(our_admit(&admission, 1), EBUSY);
	ck_assert(!our_all_places_taken(&admission));
	our_note_leave(&admission, 1, true, 0);
	ck_assert_int_eq(our_admit(&admission, 1), 0);
}

UNIT_TEST(memory_is_for_all_together)
{
	open_with(0, 10, 100);
	ck_assert_int_eq(our_admit(&admission, 101), EDQUOT);
	ck_assert_int_eq(our_admit(&admission, UINT64_MAX), EDQUOT);
	ck_assert_int_eq(our_admit(&admission, 60), 0);
	ck_assert_uint_eq(our_memory_left(&admission), 40);
	ck_assert_int_eq(our_admit(&admission, 41), EDQUOT);
	ck_assert_int_eq(our_admit(&admission, UINT64_MAX - 30), EDQUOT);
	ck_assert_int_eq(our_admit(&admission, 40), 0);
	ck_assert_int_eq(our_admit(&admission, 1), EDQUOT);
	our_note_leave(&admission, 60, true, 0);
	ck_assert_uint_eq(our_memory_left(&admission), 60);
	ck_assert_int_eq(our_admit(&admission, 60), 0);
}

/* The contents of /proc/self/cgroup, and of two files below /sys/fs/cgroup. */
static const struct groups {
	const char *own;
	struct {
		const char *path, *content;
	} files[2];
	uint64_t limit; /* 0: none but the machine's memory */
} groups[] = {
	{ NULL, { { "/memory.max", "4096\n" } }, 0 },
	{ "0::/\n", { { "/memory.max", "65536\n" } }, 65536 }, /* a container's own view */
	{ "0::/\n", { { "/memory.max", "max\n" } }, 0 },
	{ "0::/\n", { { "/cgroup.procs", "65536\n" } }, 0 },
	{ "0::/a/b\n", { { "/a/b/memory.max", "65536\n" } }, 65536 },
	{ "0::/a/b\n", { { "/a/b/memory.max", "max\n" }, { "/a/memory.max", "65536\n" } }, 65536 },
	{ "0::/a/b\n", { { "/a/b/memory.max", "8192\n" }, { "/a/memory.max", "4096\n" } }, 4096 },
	{ "0::/a/b\n", { { "/a/b/memory.max", "4096\n" }, { "/a/memory.max", "8192\n" } }, 4096 },
	{ "0::/a/b\n", { { "/a/c/memory.max", "4096\n" }, { "/b/memory.max", "4096\n" } }, 0 },
	{ "0::/docker/1f\n", { { "/memory.max", "65536\n" } }, 65536 }, /* the path is the host's */
	{ "0::/a:b\n", { { "/a:b/memory.max", "65536\n" } }, 65536 },
	{ "0::/a\n", { { "/a/memory.max", "18446744073709551615\n" } }, 0 },
	/* Version 1: no limit is the largest number of whole pages. */
	{ "9:name=systemd:/a\n4:memory:/a\n0::/\n",
	  { { "/memory/a/memory.limit_in_bytes", "65536\n" } },
	  65536 },
	{ "4:cpu,memory:/docker/1f\n", { { "/memory/memory.limit_in_bytes", "65536\n" } }, 65536 },
	{ "4:memory:/a\n", { { "/memory/a/memory.limit_in_bytes", "9223372036854771712\n" } }, 0 },
	{ "4:cpu:/a\n", { { "/memory/a/memory.limit_in_bytes", "65536\n" } }, 0 },
	{ "nonsense\n0::/\n", { { "/memory.max", "65536\n" } }, 65536 },
};

static const struct groups *present = groups; /* the first: nothing is known of any */

static FILE *open_text(const char *text)
{
	if (!text)
		errno = ENOENT;
	return text ? fmemopen((void *)(uintptr_t)text, strlen(text), "r") : NULL;
}

/* Replaces the C library's, for files of control groups, and for /proc/stat. */
FILE *fopen(const char *path, const char *mode)
{
	static const char own[] = "/proc/self/cgroup", below[] = "/sys/fs/cgroup";
	const char *stat = strcmp(path, "/proc/stat") ? NULL : unit_next_stat();
	int i;

	if (stat)
		return open_text(stat);
	if (!strcmp(path, own))
		return open_text(present->own);
	if (strncmp(path, below, strlen(below)) != 0)
		return fopen64(path, mode);
	for (i = 0; i < 2; i++)
		if (present->files[i].path && !strcmp(path + strlen(below), present->files[i].path))
			return open_text(present->files[i].content);
	return open_text(NULL);
}

UNIT_TESTS(without_being_told_it_takes_a_quarter_of_the_memory, UNIT_LENGTH(groups))
{
	uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	present = &groups[_i];
	unit_set_lockable(UINT64_MAX);
	open_with(0, 10, 0);
	ck_assert_uint_eq(our_memory_left(&admission), (present->limit ? present->limit : all) / 4);
}

static void give_up_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	ck_assert_int_eq(syscall(SYS_capset, &header, none), 0);
}

UNIT_TEST(or_what_may_be_locked_if_that_is_less)
{
	unit_set_lockable(65536);
	give_up_capabilities();
	open_with(0, 10, 0);
	ck_assert_uint_eq(our_memory_left(&admission), 65536);
	open_with(0, 10, 100000); /* the option replaces the system's limit */
	ck_assert_uint_eq(our_memory_left(&admission), 100000);
}

static const struct {
	int error;
	bool own; /* the refusal counts as a failure of the server */
} ends[] = {
	{ 0, false },
	{ ECONNRESET, false },
	{ ECONNABORTED, false },
	{ ETIMEDOUT, false },
	{ EPROTO, false },
	{ ERANGE, false },
	{ EINTR, false },
	{ EDQUOT, false },
	{ EBUSY, false },
	{ EUSERS, false },
	{ EHOSTUNREACH, false },
	{ EMSGSIZE, false },
	{ ECONNREFUSED, false },
	{ ENOMEM, true },
	{ EIO, true },
	{ ENODEV, true },
	{ EMFILE, true },
	{ ECANCELED, true },
	{ EBADMSG, true },
	{ ENOSPC, true },
};

UNIT_TESTS(what_a_client_did_is_not_the_servers_failure, UNIT_LENGTH(ends))
{
	open_with(2, 10, 100);
	ck_assert_int_eq(our_admit(&admission, 1), 0);
	ck_assert_int_eq(our_admit(&admission, 1), 0);
	our_note_leave(&admission, 1, true, ends[_i].error);
	our_note_leave(&admission, 1, true, 0); /* a later success does not change the result */
	ck_assert_int_eq(our_close_admission(&admission, 0), ends[_i].own ? ends[_i].error : 0);
}

#define DESCRIPTORS_A_CLIENT 4

/* The server keeps 32 of the descriptors that the process may have for itself. */
static const struct {
	rlim_t most;
	uint64_t wanted, clients;
} crowds[] = {
	{ 32 + 100, 1000, 25 }, { 32 + 103, 1000, 25 }, { 32 + 100, 25, 25 },
	{ 32 + 100, 10, 10 },   { 32 + 1, 1000, 1 },    { 31, 1000, 1 },
};

/* The limit that the process begins with can be raised. */
UNIT_TESTS(no_more_clients_than_descriptors, UNIT_LENGTH(crowds))
{
	struct rlimit limit = { 8, crowds[_i].most };

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	open_with(0, crowds[_i].wanted, 100);
	capture_start();
	our_limit_clients(&admission, DESCRIPTORS_A_CLIENT, false);
	ck_assert_uint_eq(admission.max_clients, crowds[_i].clients);
	if (crowds[_i].clients < crowds[_i].wanted)
		assert_holds(captured_stderr(),
			     ": there are descriptors for no more (ulimit -Hn)\n");
	else
		ck_assert_str_eq(captured_stderr(), "");
	ck_assert_int_eq(prlimit(0, RLIMIT_NOFILE, NULL, &limit), 0);
	ck_assert_uint_eq(limit.rlim_cur, crowds[_i].most);
}

UNIT_TEST(who_is_quiet_says_nothing_of_descriptors)
{
	const struct rlimit limit = { 132, 132 };

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	open_with(0, 1000, 100);
	capture_start();
	our_limit_clients(&admission, DESCRIPTORS_A_CLIENT, true);
	ck_assert_uint_eq(admission.max_clients, 25);
	ck_assert_str_eq(captured_stderr(), "");
}

static void *leave(void *error)
{
	our_note_leave(&admission, 1, false, *(int *)error);
	return NULL;
}

UNIT_TEST(the_end_waits_for_those_who_are_there)
{
	pthread_t threads[2];
	int error = ENOMEM, none = 0;

	open_with(0, 10, 100);
	ck_assert_int_eq(our_admit(&admission, 1), 0);
	ck_assert_int_eq(our_admit(&admission, 1), 0);
	ck_assert_int_eq(pthread_create(&threads[0], NULL, leave, &error), 0);
	ck_assert_int_eq(pthread_create(&threads[1], NULL, leave, &none), 0);
	ck_assert_int_eq(our_close_admission(&admission, EPROTO), ENOMEM);
	ck_assert_uint_eq(admission.clients, 0);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}
