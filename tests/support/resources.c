/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: support for tests that use RDMA. See resources.h. The counts are those of `rdma resource
 * show`, as text; two texts are only compared for equality. They are read over netlink, as rdma(8)
 * does, because starting rdma(8) takes longer than many a test.
 */
#include <check.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/resources.h"

#define DEADLINE_SECONDS 20

#define MAX_TEXT 4096

static char before[MAX_TEXT], marked[MAX_TEXT];

/* Adds a message's attributes to the text: "rxe0: pd 1 cq 0 qp 0 ..." */
static void add_attributes(const char *at, size_t length, FILE *text)
{
	struct nlattr attribute;
	uint64_t count;
	size_t step;

	while (length >= NLA_HDRLEN) {
		memcpy(&attribute, at, sizeof(attribute));
		if (attribute.nla_len < NLA_HDRLEN || attribute.nla_len > length)
			return;
		switch (attribute.nla_type & NLA_TYPE_MASK) {
		case RDMA_NLDEV_ATTR_DEV_NAME:
			fprintf(text, "%s:", at + NLA_HDRLEN);
			break;
		case RDMA_NLDEV_ATTR_RES_SUMMARY:
		case RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY:
			add_attributes(at + NLA_HDRLEN, attribute.nla_len - NLA_HDRLEN, text);
			break;
		case RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME:
			fprintf(text, " %s", at + NLA_HDRLEN);
			break;
		case RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR:
			memcpy(&count, at + NLA_HDRLEN, sizeof(count));
			fprintf(text, " %" PRIu64, count);
			break;
		}
		step = (size_t)NLA_ALIGN(attribute.nla_len);
		if (step >= length)
			return;
		length -= step;
		at += step;
	}
}

/* Takes messages, a device each, up to the last one. */
static int receive_counts(int fd, FILE *text)
{
	static char buffer[65536] __attribute__((aligned(NLMSG_ALIGNTO)));
	const struct nlmsghdr *message;
	ssize_t length;

	for (;;) {
		length = recv(fd, buffer, sizeof(buffer), 0);
		if (length <= 0)
			return -1;
		for (message = (void *)buffer; NLMSG_OK(message, length);
		     message = NLMSG_NEXT(message, length)) {
			if (message->nlmsg_type == NLMSG_DONE)
				return 0;
			if (message->nlmsg_type == NLMSG_ERROR)
				return -1;
			add_attributes(NLMSG_DATA(message), NLMSG_PAYLOAD(message, 0), text);
			fputc('\n', text);
		}
	}
}

/* Reads the counts; returns 0, or -1 when the kernel does not tell or knows no device. */
static int read_counts(char *text, size_t size)
{
	const struct nlmsghdr request = {
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_GET),
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	FILE *stream = fmemopen(text, size, "w");
	int ret = -1;

	if (fd >= 0 && stream && send(fd, &request, sizeof(request), 0) == sizeof(request))
		ret = receive_counts(fd, stream);
	if (stream)
		fclose(stream);
	if (fd >= 0)
		close(fd);
	return ret || !strstr(text, " qp ") ? -1 : 0;
}

void resources_remember(void)
{
	if (read_counts(before, sizeof(before))) {
		fprintf(stderr,
			"the kernel does not tell of RDMA resources, or there is no device\n");
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
