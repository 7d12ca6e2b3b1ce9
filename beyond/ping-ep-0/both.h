/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-ep-0: what both sides do, and the command line. A side defines NAME, PEER and USAGE first.
 */
#ifndef PING_EP_BOTH_H
#define PING_EP_BOTH_H

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SILENCE_LIMIT_S 60 /* the peer may be silent for this long */

static const char *address; /* the server's; NULL: any address of IPv4 */
static uint64_t port = 12321, count = 1000, size = 64;
static volatile sig_atomic_t stop;

/* Each side has these: to connect or accept, and to exchange messages. They report their errors. */
static int establish(struct rdma_cm_id *id);
static int exchange(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *buffers);

/* Reports what has failed, and why; returns the error. To be told to stop is no failure. */
static int fail(const char *call, int error, const char *cause)
{
	if (error == EINTR && stop)
		return EINTR;
	if (error == EINTR) /* our alarm has ended the call */
		error = ETIMEDOUT;
	if (error <= 0) /* ibv_poll_cq returns -1, not an errno value */
		error = EIO;
	fprintf(stderr, NAME ": %s: %s (%d)%s\n", call, strerror(error), error, cause);
	return error;
}

/* Only a signal ends a sleeping call. It comes each second, as one just before the call is lost. */
static void on_signal(int number)
{
	if (number != SIGALRM)
		stop = 1;
	alarm(1);
}

/* Sleeps until a send or a receive has completed; each second looks for the event of the end. */
static int await(struct rdma_cm_id *id, int (*get)(struct rdma_cm_id *, struct ibv_wc *),
		 struct ibv_wc *wc)
{
	const char *call = get == rdma_get_recv_comp ? "rdma_get_recv_comp" : "rdma_get_send_comp";
	struct pollfd end = { .fd = id->channel->fd, .events = POLLIN };
	int seconds = 0;

	while (get(id, wc) <= 0) {
		if (errno != EINTR || stop || seconds == SILENCE_LIMIT_S)
			return fail(call, errno, "");
		if (poll(&end, 1, 0) > 0)
			return fail(call, ECONNRESET, ": the " PEER " has left");
		seconds++;
	}
	if (wc->status == IBV_WC_SUCCESS) /* checked before anything else is read */
		return 0;
	fprintf(stderr, NAME ": %s: wr_id %" PRIu64 " on QP 0x%x: %s (status %d, vendor 0x%x)\n",
		call, wc->wr_id, wc->qp_num, ibv_wc_status_str(wc->status), wc->status,
		wc->vendor_err);
	return ECONNRESET;
}

/* The life of a connection. The id has a QP; two buffers and their region are ours. */
static int run(struct rdma_cm_id *id)
{
	uint8_t *buffers = calloc(2, size);
	struct ibv_mr *mr;
	int ret;

	if (!buffers)
		return fail("calloc", errno, "");
	mr = rdma_reg_msgs(id, buffers, 2 * size);
	if (!mr) {
		ret = fail("rdma_reg_msgs", errno, ": see ulimit -l");
		goto out_free;
	}
	/* Posts first, as the peer may send as soon as it is connected, or has our first message. */
	if (rdma_post_recv(id, NULL, buffers, size, mr)) {
		ret = fail("rdma_post_recv", errno, "");
		goto out_destroy_qp;
	}
	alarm(SILENCE_LIMIT_S);
	if (stop) /* a signal may have come before: our alarm has replaced its alarm */
		alarm(1);
	ret = establish(id);
	if (ret)
		goto out_destroy_qp;
	alarm(1); /* rings each second from now on: see await */
	ret = exchange(id, mr, buffers);
	alarm(7); /* limits the wait for the peer's answer; to hear none is no failure */
	rdma_disconnect(id);
out_destroy_qp:
	alarm(0);
	rdma_destroy_qp(id); /* the QP's receive points to the memory */
	if (rdma_dereg_mr(mr))
		ret = fail("rdma_dereg_mr", errno, "");
out_free:
	free(buffers);
	return ret;
}

/*
 * Creates an id with all that belongs to it: device, route, PD, two CQs with a channel each, QP. A
 * listener keeps the attributes for the QPs of its clients. Returns 0, or the status to end with.
 */
static int create_endpoint(int flags, struct rdma_cm_id **id)
{
	struct sigaction action = { .sa_handler = on_signal }; /* no SA_RESTART */
	struct rdma_addrinfo want = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *info;
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};
	char service[8];
	int ret;

	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises SIGPIPE */
	if (sigaction(SIGALRM, &action, NULL) || sigaction(SIGINT, &action, NULL) ||
	    sigaction(SIGTERM, &action, NULL))
		return fail("sigaction", errno, "") != 0;
	snprintf(service, sizeof(service), "%" PRIu64, port);
	ret = rdma_getaddrinfo(address, service, &want, &info);
	if (ret == -1)
		fail("rdma_getaddrinfo", errno, "");
	else if (ret)
		fprintf(stderr, NAME ": %s: %s\n", address ? address : service, gai_strerror(ret));
	if (ret)
		return ret == EAI_NONAME ? 2 : 1;
	ret = rdma_create_ep(id, info, NULL, &attr);
	if (ret)
		fail("rdma_create_ep", errno, ": no device or way (devices --check)? port taken?");
	rdma_freeaddrinfo(info);
	return ret != 0;
}

static _Noreturn void wrong_usage(const char *what)
{
	fprintf(stderr, NAME ": %s: usage: " USAGE "\n", what);
	exit(2);
}

/* Returns a number from 1 to max, of bytes or messages. */
static uint64_t number(const char *text, uint64_t max)
{
	static const char units[] = "kmg"; /* 2^10, 2^20, 2^30 */
	char *end;
	uint64_t value = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;

	if (*text < '0' || *text > '9' || (*end && (!unit || end[1])) || !value ||
	    value > max >> shift)
		wrong_usage(text);
	return value << shift;
}

/* Ends the program if it is used in a wrong way, or was asked for help. */
static void read_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "address", 1, NULL, 'a' }, { "port", 1, NULL, 'p' }, { "count", 1, NULL, 'c' },
		{ "size", 1, NULL, 's' },    { "help", 0, NULL, 'h' }, { 0 },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, ":a:p:c:s:h", options, NULL)) != -1) {
		if (letter == 'a')
			address = optarg;
		else if (letter == 'p')
			port = number(optarg, 65535);
		else if (letter == 'c')
			count = number(optarg, 999999999999);
		else if (letter == 's')
			size = number(optarg, 1ull << 31);
		else if (letter == 'h')
			exit(printf("usage: " NAME " " USAGE "\n") < 0);
		else
			wrong_usage(argv[optind - 1]);
	}
	if (optind < argc)
		wrong_usage(argv[optind]);
}

#endif
