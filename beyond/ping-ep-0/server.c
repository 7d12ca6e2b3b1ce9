/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-ep-0/server: the whole server in one file, with rdma_create_ep and rdma_verbs.h. It sends
 * every message of its one client back. Read main first, then upwards.
 */
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

#define NAME            "ping-ep-0/server"
#define SILENCE_LIMIT_S 60 /* seconds that the client may be silent */

static const char *address; /* NULL: any, of IPv4 */
static uint64_t port = 12321, count = 1000, size = 64;
static volatile sig_atomic_t stop;
static bool accepted; /* a client; refused ones do not count */

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
static bool has_event(struct rdma_cm_id *id, int ms)
{
	struct pollfd fd = { .fd = id->channel->fd, .events = POLLIN };

	return poll(&fd, 1, ms) > 0;
}

/* Reports a completion that failed. Returns EIO, or ECONNRESET if it is the client's doing. */
static int completion_failed(struct rdma_cm_id *id, const char *call, struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_WR_FLUSH_ERR) {
		/* If a send has failed, that is the cause. */
		if (ibv_poll_cq(id->send_cq, 1, wc) <= 0 || wc->status == IBV_WC_SUCCESS ||
		    wc->status == IBV_WC_WR_FLUSH_ERR)
			return fail(call, has_event(id, 1000) ? ECONNRESET : ECONNABORTED,
				    ": flushed");
	}
	fprintf(stderr, NAME ": %s: wr_id %" PRIu64 " on QP 0x%x: %s (status %d, vendor 0x%x)\n",
		call, wc->wr_id, wc->qp_num, ibv_wc_status_str(wc->status), wc->status,
		wc->vendor_err);
	if (wc->status == IBV_WC_LOC_PROT_ERR)
		return EIO;
	return ECONNRESET;
}

/* Sleeps until a send or a receive has completed; each second checks that the client lives. */
static int await(struct rdma_cm_id *id, int (*get)(struct rdma_cm_id *, struct ibv_wc *),
		 const char *call, struct ibv_wc *wc)
{
	int seconds = 0;

	while (get(id, wc) <= 0) {
		if (errno != EINTR || stop || seconds == SILENCE_LIMIT_S)
			return fail(call, errno, "");
		if (has_event(id, 0))
			return fail(call, ECONNRESET, ": the client has left");
		seconds++;
	}
	if (wc->status == IBV_WC_SUCCESS) /* checked before anything else is read */
		return 0;
	return completion_failed(id, call, wc);
}

/* ---- Messages ---- */

/* There are two buffers: one is received into while the other is sent from. */
static int echo(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *buffers, uint64_t message)
{
	uint8_t *received = buffers + message % 2 * size;
	uint8_t *other = buffers + (message + 1) % 2 * size;
	struct ibv_wc wc;
	int ret;

	ret = await(id, rdma_get_recv_comp, "rdma_get_recv_comp", &wc);
	if (ret)
		return ret;
	if (wc.byte_len != size) {
		fprintf(stderr, NAME ": a message of %u bytes: is -s not the client's?\n",
			wc.byte_len);
		return ECONNRESET;
	}
	if (message > 0) { /* the one before has left the other buffer */
		ret = await(id, rdma_get_send_comp, "rdma_get_send_comp", &wc);
		if (ret)
			return ret;
	}
	if (rdma_post_recv(id, NULL, other, size, mr)) /* before the client can send again */
		return fail("rdma_post_recv", errno, "");
	if (rdma_post_send(id, NULL, received, size, mr, 0))
		return fail("rdma_post_send", errno, "");
	return 0;
}

static int send_messages_back(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *buffers)
{
	uint64_t n = 0;
	int ret = 0;

	alarm(1); /* from now on each second: see await */
	while (n < count && !stop) {
		ret = echo(id, mr, buffers, n);
		if (ret)
			break;
		n++;
	}
	printf("%" PRIu64 " messages of %" PRIu64 " bytes sent back\n", n, size);
	return ret;
}

/* ---- The connection ---- */

static int accept_client(struct rdma_cm_id *id)
{
	const struct rdma_conn_param *wanted = &id->event->param.conn;
	struct rdma_conn_param param = {
		/* READs that either side may have under way: no more than the client asks for */
		.responder_resources = wanted->responder_resources > 0,
		.initiator_depth = wanted->initiator_depth > 0,
		.rnr_retry_count = 7, /* forever */
	};

	alarm(SILENCE_LIMIT_S);
	if (stop) /* perhaps just before: then that alarm has been replaced */
		alarm(1);
	if (rdma_accept(id, &param) || id->event->event != RDMA_CM_EVENT_ESTABLISHED)
		return fail("rdma_accept", errno, "");
	accepted = true;
	return 0;
}

/* Ends the connection. Returns `ret` if the messages failed, else the result of the disconnect. */
static int disconnect(struct rdma_cm_id *id, int ret)
{
	alarm(0);
	/* The client ends the connection: if we left first, our last message could be lost. */
	if (!ret && !stop)
		has_event(id, SILENCE_LIMIT_S * 1000);
	alarm(7); /* for the client's answer */
	if (!rdma_disconnect(id) || ret)
		return ret;
	if (errno == EINVAL || errno == EINTR) /* nothing is connected; it does not answer */
		return 0;
	return fail("rdma_disconnect", errno, "");
}

static int accept_and_talk(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *buffers)
{
	int ret;

	/* The client may send its first message as soon as it is accepted. */
	if (rdma_post_recv(id, NULL, buffers, size, mr))
		return fail("rdma_post_recv", errno, "");
	ret = accept_client(id);
	if (ret)
		return ret;
	ret = send_messages_back(id, mr, buffers);
	return disconnect(id, ret);
}

/* Sets up what a connection needs besides the id and its QP, two buffers, and serves the client. */
static int serve(struct rdma_cm_id *id)
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

	ret = accept_and_talk(id, mr, buffers);

	alarm(0);
	rdma_destroy_qp(id); /* before the memory that its receive points to */
	if (rdma_dereg_mr(mr))
		ret = fail("rdma_dereg_mr", errno, "");
out_free:
	free(buffers);
	return ret;
}

/* Returns true if an error ends the server, too. What a client does is no failure of the server. */
static bool is_failure(int ret)
{
	switch (ret) {
	case 0:
	case ETIMEDOUT:
	case ECONNRESET:
	case ECONNREFUSED:
	case ECONNABORTED:
		return false;
	default:
		return true;
	}
}

/* ---- The listener ---- */

/* Waits for a client, whose id has PD, CQs and QP, and serves it. Returns 0 if others may follow. */
static int serve_next(struct rdma_cm_id *listener)
{
	struct rdma_cm_id *id;
	int ret;

	if (rdma_get_request(listener, &id)) {
		if (errno == EINTR && !stop) /* by the alarm of the client before */
			return 0;
		return fail("rdma_get_request", errno, "");
	}
	ret = serve(id);
	rdma_destroy_ep(id);
	return is_failure(ret) ? ret : 0;
}

static int listen_and_serve(struct rdma_cm_id *listener)
{
	int ret = 0;

	if (rdma_listen(listener, 0))
		return fail("rdma_listen", errno, "");
	fprintf(stderr, NAME ": listening on port %" PRIu64 "\n", port);
	while (!ret && !accepted && !stop)
		ret = serve_next(listener);
	if (listener->event && listener->event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		rdma_destroy_ep(listener->event->id); /* whose QP could not be made */
	return ret;
}

/* Finds the device. The listener keeps what its clients' CQs and QPs are to be. */
static int create_listener(struct rdma_cm_id **listener, struct rdma_addrinfo *info)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};

	if (rdma_create_ep(listener, info, NULL, &attr))
		return fail("rdma_create_ep", errno, ": port taken? no device there?");
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
	fprintf(stderr, NAME ": %s: usage: [-a ADDRESS] [-p PORT] [-c COUNT] [-s BYTES[k|m|g]]\n",
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
			       " [-a ADDRESS] [-p PORT] [-c COUNT] [-s BYTES[k|m|g]]\n");
			return 0;
		default:
			ok = false;
		}
	}
	if (!ok)
		return wrong_usage(argv[optind - 1]);
	if (optind < argc)
		return wrong_usage(argv[optind]);
	return -1;
}

/* Returns 0, or the status with which the program is to end. */
static int look_up(struct rdma_addrinfo **info)
{
	struct rdma_addrinfo want = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };
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
	struct rdma_cm_id *listener;
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

	ret = create_listener(&listener, info);
	rdma_freeaddrinfo(info);
	if (!ret) {
		ret = listen_and_serve(listener);
		rdma_destroy_ep(listener);
	}
	if (fflush(stdout)) {
		fprintf(stderr, NAME ": stdout: %s\n", strerror(errno));
		return 1;
	}
	return ret && ret != EINTR;
}
