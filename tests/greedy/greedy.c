/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: a client for tests/live that takes more than its share of a shared receive queue. It
 * follows the protocol only in its private data. Contract: "flood" sends COUNT messages at once;
 * "hold" sends one, has no receive for its echo, and stays; "torn" ends in the middle of a message.
 * Prints "sent" when it has done so; then it waits until it is disconnected, or for the end of
 * stdin. Exit status 0; 1 if a call failed; 2 for wrong usage.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SIZE = 32768,
	MOST = 256
};

static char buffer[SIZE];

static void must(bool fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "greedy: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct rdma_cm_id *connect_to(const char *address, const char *port, uint64_t size)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *found;
	struct ibv_qp_init_attr attr = { .cap = { MOST, 1, 1, 1, 0 }, .sq_sig_all = 1 };
	uint64_t data[2] = { htobe64(1000), htobe64(size) };
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = sizeof(data),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 6,
		.rnr_retry_count = 7,
	};
	struct rdma_cm_id *id;

	must(!rdma_getaddrinfo(address, port, &hints, &found), "rdma_getaddrinfo");
	must(!rdma_create_ep(&id, found, NULL, &attr), "rdma_create_ep");
	must(!rdma_connect(id, &param), "rdma_connect");
	rdma_freeaddrinfo(found);
	return id;
}

static void send_some(struct rdma_cm_id *id, unsigned int count, char *from, size_t size)
{
	struct ibv_mr *mr = rdma_reg_msgs(id, buffer, SIZE);
	unsigned int i;

	must(mr, "rdma_reg_msgs");
	/* What it cannot post any more, the server has refused. */
	for (i = 0; i < count && !rdma_post_send(id, NULL, from, size, mr, 0); i++)
		;
	puts("sent");
	fflush(stdout);
}

/* For the end of the connection, or of who has started us. */
static void stay(struct rdma_cm_id *id)
{
	struct pollfd fds[] = {
		{ .fd = id->channel->fd, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};

	must(poll(fds, 2, -1) > 0, "poll");
}

static void usage(void)
{
	fputs("usage: greedy ADDRESS PORT flood COUNT | hold | torn\n", stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *id;
	const char *what;

	if (argc < 4)
		usage();
	what = argv[3];
	if (!strcmp(what, "flood") && argc == 5 && atoi(argv[4]) <= MOST) {
		id = connect_to(argv[1], argv[2], 64);
		send_some(id, (unsigned int)atoi(argv[4]), buffer, 64);
	} else if (!strcmp(what, "hold")) {
		id = connect_to(argv[1], argv[2], 64);
		send_some(id, 1, buffer, 64);
	} else if (!strcmp(what, "torn")) {
		/* The second half is outside its memory region. */
		id = connect_to(argv[1], argv[2], SIZE);
		send_some(id, 1, buffer + SIZE / 2, SIZE);
		usleep(200000); /* for its first packets to be sent: nothing says when they are */
		return 0;
	} else {
		usage();
	}
	stay(id);
	return 0;
}
