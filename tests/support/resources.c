/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: support for tests that use RDMA. See resources.h. The counts are those of
 * `rdma resource show`, as text: two texts that are equal are all there is to compare.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/resources.h"

#define DEADLINE_SECONDS 20

#define MAX_TEXT 4096

static char before[MAX_TEXT], marked[MAX_TEXT];

/* Reads the counts; returns 0, or -1 when rdma(8) failed or knows no device. */
static int read_counts(char *text, size_t size)
{
	FILE *rdma = popen("PATH=$PATH:/usr/sbin:/sbin rdma resource show", "re");
	size_t length;

	if (!rdma)
		return -1;
	length = fread(text, 1, size - 1, rdma);
	text[length] = '\0';
	return pclose(rdma) || !strstr(text, " qp ") ? -1 : 0;
}

void resources_remember(void)
{
	if (read_counts(before, sizeof(before))) {
		fprintf(stderr, "rdma resource show: does not work here, or there is no device\n");
		exit(1);
	}
}

static void assert_same(const char *wanted, const char *when)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct timespec now, deadline;
	char text[MAX_TEXT];

	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += DEADLINE_SECONDS;
	do {
		ck_assert_int_eq(read_counts(text, sizeof(text)), 0);
		if (!strcmp(text, wanted))
			return;
		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < deadline.tv_sec);
	fprintf(stderr, "--- %s: resources before:\n%s--- and now:\n%s", when, wanted, text);
	ck_abort_msg("%s: resources are left behind, or missing; for %d s now", when,
		     DEADLINE_SECONDS);
}

void resources_assert_as_before(const char *when)
{
	assert_same(before, when);
}

void resources_mark(void)
{
	ck_assert_int_eq(read_counts(marked, sizeof(marked)), 0);
}

void resources_assert_as_marked(const char *when)
{
	assert_same(marked, when);
}
