/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-ep-0/client: the whole client in one file, with rdma_create_ep and rdma_verbs.h. It sends
 * messages, and waits for each to come back. Read main first, then upwards.
 */
#include <endian.h>
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
#include <time.h>
#include <unistd.h>

#define NAME            "ping-ep-0/client"
#define SILENCE_LIMIT_S 60 /* seconds that the server may be silent */

static const char *address;
static uint64_t port = 12321, count = 1000, size = 64;
static volatile sig_atomic_t stop;

/* ---- Signals and errors ---- */

/* Repeats the signal each second: just before a call that blocks it would otherwise be lost. */
static void on_signal(int number)
{
	if (number != SIGALRM)
		stop = 1;
	alarm(1);
}

static int catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal }; /* no SA_RESTART */

	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	if (sigaction(SIGALRM, &action, NULL))
		return -1;
	if (sigaction(SIGINT, &action, NULL))
		return -1;
	return sigaction(SIGTERM, &action, NULL);
}

/* Reports what has failed, and why; returns the error. To be told to stop is no failure. */
static int fail(const char *call, int error, const char *cause)
{
	if (error == EINTR && stop)
		return EINTR;
	if (error == EINTR) /* by our alarm */
		error = ETIMEDOUT;
	if (error <= 0) /* ibv_poll_cq has no errno but -1 */
		error = EIO;
	fprintf(stderr, NAME ": %s: %s (%d)%s\n", call, strerror(error), error, cause);
	return error;
}

/* ---- Waiting ---- */

/* The only event that can be expected now is the end of the connection. */
static bool has_event(struct rdma_cm_id *id)
{
	struct pollfd fd = { .fd = id->channel->fd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

/* Reports a completion that failed. Returns EIO. */
static int completion_failed(const char *call, const struct ibv_wc *wc)
{
	fprintf(stderr, NAME ": %s: wr_id %" PRIu64 " on QP 0x%x: %s (status %d, vendor 0x%x)\n",
		call, wc->wr_id, wc->qp_num, ibv_wc_status_str(wc->status), wc->status,
		wc->vendor_err);
	return EIO;
}

/* Sleeps until a send or a receive has completed; each second checks that the server lives. */
static int await(struct rdma_cm_id *id, int (*get)(struct rdma_cm_id *, struct ibv_wc *),
		 const char *call, struct ibv_wc *wc)
{
	int seconds = 0;

	while (get(id, wc) <= 0) {
		if (errno != EINTR || stop || seconds == SILENCE_LIMIT_S)
			return fail(call, errno, "");
		if (has_event(id))
			return fail(call, ECONNRESET, ": the server has left");
		seconds++;
	}
	if (wc->status == IBV_WC_SUCCESS) /* checked before anything else is read */
		return 0;
	if (wc->status == IBV_WC_WR_FLUSH_ERR) {
		/* The failure that caused this flush may be in the other queue. */
		if (get == rdma_get_send_comp)
			ibv_poll_cq(id->recv_cq, 1, wc);
		else
			ibv_poll_cq(id->send_cq, 1, wc);
	}
	return completion_failed(call, wc);
}

/* ---- Messages ---- */

/* Sends one message and gets it back. The receive for it was posted before. */
static int ping(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *sent, uint64_t message)
{
	uint8_t *received = sent + size;
	struct ibv_wc wc;
	int ret;

	memcpy(sent, &message, size < sizeof(message) ? size : sizeof(message));
	if (rdma_post_send(id, NULL, sent, size, mr, 0))
		return fail("rdma_post_send", errno, "");
	ret = await(id, rdma_get_send_comp, "rdma_get_send_comp", &wc);
	if (ret)
		return ret;
	ret = await(id, rdma_get_recv_comp, "rdma_get_recv_comp", &wc);
	if (ret)
		return ret;

	if (wc.byte_len != size || memcmp(sent, received, size)) {
		fprintf(stderr,
			NAME ": message %" PRIu64 " came back changed, or not as %" PRIu64
			     " bytes\n",
			message, size);
		return EBADMSG;
	}
	if (message + 1 == count)
		return 0;
	if (rdma_post_recv(id, NULL, received, size, mr)) /* for the next one */
		return fail("rdma_post_recv", errno, "");
	return 0;
}

/* Sends all messages, and measures the time. */
static int send_messages(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *buffers)
{
	struct timespec from, to;
	uint64_t n = 0;
	double us;
	int ret = 0;

	alarm(1); /* from now on each second: see await */
	clock_gettime(CLOCK_MONOTONIC, &from);
	while (n < count && !stop) {
		ret = ping(id, mr, buffers, n);
		if (ret)
			break;
		n++;
	}
	clock_gettime(CLOCK_MONOTONIC, &to);

	us = (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
	if (n > 0)
		us /= (double)n;
	printf("%" PRIu64 " messages of %" PRIu64 " bytes, there and back in %.1f us each\n", n,
	       size, us);
	return ret;
}

/* ---- The connection ---- */

static int connect_to_server(struct rdma_cm_id *id)
{
	uint64_t info[] = { htobe64(count), htobe64(size) }; /* see docs/protocol.md */
	struct rdma_conn_param param = {
		.private_data = info,
		.private_data_len = sizeof(info),
		.responder_resources = 1, /* READs that either side may have under way: */
		.initiator_depth = 1,     /* there are none, but some devices refuse 0 */
		.retry_count = 6,         /* for soft-RoCE 7 means: forever */
		.rnr_retry_count = 7,     /* forever */
	};

	alarm(SILENCE_LIMIT_S);
	if (stop) /* perhaps just before: then that alarm has been replaced */
		alarm(1);
	if (rdma_connect(id, &param) || id->event->event != RDMA_CM_EVENT_ESTABLISHED)
		return fail("rdma_connect", errno,
			    ": does nobody listen there, or has the server refused us?");
	return 0;
}

/* Ends the connection. Returns `ret` if the messages failed, else the result of the disconnect. */
static int disconnect(struct rdma_cm_id *id, int ret)
{
	alarm(7); /* for the server's answer */
	if (!rdma_disconnect(id) || ret)
		return ret;
	if (errno == EINVAL || errno == EINTR) /* nothing is connected; it does not answer */
		return 0;
	return fail("rdma_disconnect", errno, "");
}

static int connect_and_talk(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *buffers)
{
	int ret;

	/* Post first: the server may answer as soon as it has our first message. */
	if (rdma_post_recv(id, NULL, buffers + size, size, mr))
		return fail("rdma_post_recv", errno, "");
	ret = connect_to_server(id);
	if (ret)
		return ret;
	ret = send_messages(id, mr, buffers);
	return disconnect(id, ret);
}

/*
 * Sets up what a connection needs besides the id and its QP, a buffer to send from and one to
 * receive into, and runs it.
 */
static int run(struct rdma_cm_id *id)
{
	struct ibv_mr *mr;
	uint8_t *buffers;
	int ret;

	buffers = calloc(2, size);
	if (!buffers)
		return fail("calloc", errno, "");
	mr = rdma_reg_msgs(id, buffers, 2 * size);
	if (!mr) {
		ret = fail("rdma_reg_msgs", errno, ": see ulimit -l");
		goto out_free;
	}

	ret = connect_and_talk(id, mr, buffers);

	alarm(0);
	rdma_destroy_qp(id); /* before the memory that its receive points to */
	if (rdma_dereg_mr(mr))
		ret = fail("rdma_dereg_mr", errno, "");
out_free:
	free(buffers);
	return ret;
}

/* Makes an id with all that belongs to it: device, route, PD, two CQs with a channel each, QP. */
static int create_endpoint(struct rdma_cm_id **id, struct rdma_addrinfo *info)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};

	if (rdma_create_ep(id, info, NULL, &attr))
		return fail("rdma_create_ep", errno, ": no device or way (devices --check)?");
	return 0;
}

/* ---- The command line ---- */

/* Reads a number from 1 to max, of bytes or messages. */
static bool is_number(const char *text, uint64_t max, uint64_t *value)
{
	char unit = 0, more;
	int shift = 0;

	if (*text < '0' || *text > '9')
		return false;
	if (sscanf(text, "%" SCNu64 "%c%c", value, &unit, &more) > 2)
		return false;
	if (unit == 'k')
		shift = 10;
	else if (unit == 'm')
		shift = 20;
	else if (unit == 'g')
		shift = 30;
	else if (unit)
		return false;
	if (*value == 0 || *value > max >> shift)
		return false;
	*value <<= shift;
	return true;
}

static int wrong_usage(const char *what)
{
	fprintf(stderr, NAME ": %s: usage: -a ADDRESS [-p PORT] [-c COUNT] [-s BYTES[k|m|g]]\n",
		what);
	return 2;
}

/* Returns -1, or the status with which the program is to end: 0 after --help, 2 for wrong usage. */
static int read_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "address", 1, NULL, 'a' }, { "port", 1, NULL, 'p' }, { "count", 1, NULL, 'c' },
		{ "size", 1, NULL, 's' },    { "help", 0, NULL, 'h' }, { 0 },
	};
	bool ok = true;
	int letter;

	while (ok && (letter = getopt_long(argc, argv, ":a:p:c:s:h", options, NULL)) != -1) {
		switch (letter) {
		case 'a':
			address = optarg;
			break;
		case 'p':
			ok = is_number(optarg, 65535, &port);
			break;
		case 'c':
			ok = is_number(optarg, 999999999999, &count);
			break;
		case 's':
			ok = is_number(optarg, 1ull << 31, &size);
			break;
		case 'h':
			printf("usage: " NAME
			       " -a ADDRESS [-p PORT] [-c COUNT] [-s BYTES[k|m|g]]\n");
			return 0;
		default:
			ok = false;
		}
	}
	if (!ok)
		return wrong_usage(argv[optind - 1]);
	if (!address)
		return wrong_usage("no address");
	if (optind < argc)
		return wrong_usage(argv[optind]);
	return -1;
}

/* Returns 0, or the status with which the program is to end. */
static int look_up(struct rdma_addrinfo **info)
{
	struct rdma_addrinfo want = { .ai_port_space = RDMA_PS_TCP };
	char service[8];
	int ret;

	snprintf(service, sizeof(service), "%" PRIu64, port);
	ret = rdma_getaddrinfo(address, service, &want, info);
	if (!ret)
		return 0;
	if (ret == -1)
		fail("rdma_getaddrinfo", errno, "");
	else
		fprintf(stderr, NAME ": rdma_getaddrinfo: %s\n", gai_strerror(ret));
	return ret == EAI_NONAME ? 2 : 1;
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;
	int ret;

	ret = read_options(argc, argv);
	if (ret >= 0)
		return ret;
	if (catch_signals()) {
		fail("sigaction", errno, "");
		return 1;
	}
	ret = look_up(&info);
	if (ret)
		return ret;

	ret = create_endpoint(&id, info);
	rdma_freeaddrinfo(info);
	if (!ret) {
		ret = run(id);
		rdma_destroy_ep(id);
	}
	if (fflush(stdout)) {
		fprintf(stderr, NAME ": stdout: %s\n", strerror(errno));
		return 1;
	}
	return ret && ret != EINTR;
}
