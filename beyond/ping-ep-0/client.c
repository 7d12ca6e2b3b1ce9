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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAME            "ping-ep-0/client"
#define SILENCE_LIMIT_S 60 /* seconds that the server may be silent */
#define SAY(...)        fprintf(stderr, NAME ": " __VA_ARGS__)

static uint64_t port = 12321, count = 1000, size = 64;
static volatile sig_atomic_t stop;

/* Repeats each second: a signal just before a call that blocks would otherwise be lost. */
static void on_signal(int number)
{
	if (number != SIGALRM)
		stop = 1;
	alarm(1);
}

/* Reports what has failed, and why. EINTR is our alarm; ibv_poll_cq has no errno but -1. */
static int fail(const char *call, int error, const char *cause)
{
	if (error == EINTR && stop)
		return error;
	error = error == EINTR ? ETIMEDOUT : error > 0 ? error : EIO;
	SAY("%s: %s (%d)%s\n", call, strerror(error), error, cause);
	return error;
}

/* The only event that can be expected now is the end of the connection. */
static int has_event(struct rdma_cm_id *id, int ms)
{
	return poll(&(struct pollfd){ id->channel->fd, POLLIN, 0 }, 1, ms) > 0;
}

/* Sleeps until a send or a receive has completed. */
static int await(struct rdma_cm_id *id, int (*get)(struct rdma_cm_id *, struct ibv_wc *),
		 const char *call, struct ibv_wc *wc)
{
	int seconds;

	for (seconds = 0; get(id, wc) <= 0; seconds++) {
		if (errno != EINTR || stop || seconds == SILENCE_LIMIT_S)
			return fail(call, errno, "");
		if (has_event(id, 0))
			return fail(call, ECONNRESET, ": the server has left");
	}
	if (wc->status == IBV_WC_SUCCESS) /* checked before anything else is read */
		return 0;
	if (wc->status == IBV_WC_WR_FLUSH_ERR) /* the cause may be in the other queue */
		ibv_poll_cq(get == rdma_get_send_comp ? id->recv_cq : id->send_cq, 1, wc);
	SAY("%s: wr_id %" PRIu64 " on QP 0x%x: %s (status %d, vendor 0x%x)\n", call, wc->wr_id,
	    wc->qp_num, ibv_wc_status_str(wc->status), wc->status, wc->vendor_err);
	return EIO;
}

/* One message there and back. The receive for it was posted before. */
static int ping(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *sent, uint64_t message)
{
	uint8_t *received = sent + size;
	struct ibv_wc wc;
	int ret;

	memcpy(sent, &message, size < sizeof(message) ? size : sizeof(message));
	if (rdma_post_send(id, NULL, sent, size, mr, 0))
		return fail("rdma_post_send", errno, "");
	ret = await(id, rdma_get_send_comp, "rdma_get_send_comp", &wc);
	if (!ret)
		ret = await(id, rdma_get_recv_comp, "rdma_get_recv_comp", &wc);
	if (ret)
		return ret;
	if (wc.byte_len != size || memcmp(sent, received, size)) {
		SAY("message %" PRIu64 " came back changed, or not as %" PRIu64 " bytes\n", message,
		    size);
		return EBADMSG;
	}
	if (message + 1 < count && rdma_post_recv(id, NULL, received, size, mr))
		return fail("rdma_post_recv", errno, "");
	return 0;
}

/* All messages, timed, and the end of the connection. */
static int talk(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *buffers)
{
	struct timespec from, to;
	uint64_t n;
	double us;
	int ret = 0;

	alarm(1);
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (n = 0; !ret && !stop && n < count; n += !ret)
		ret = ping(id, mr, buffers, n);
	clock_gettime(CLOCK_MONOTONIC, &to);
	us = (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
	printf("%" PRIu64 " messages of %" PRIu64 " bytes, there and back in %.1f us each\n", n,
	       size, us / (double)(n + !n));
	alarm(7); /* for the server's answer. EINVAL: it has left before us */
	if (rdma_disconnect(id) && !ret && errno != EINVAL && errno != EINTR)
		ret = fail("rdma_disconnect", errno, "");
	return ret;
}

/* What a connection needs besides the id and its QP: memory, and a receive for the first answer. */
static int connect_and_talk(struct rdma_cm_id *id)
{
	uint64_t info[] = { htobe64(count), htobe64(size) }; /* see docs/protocol.md */
	struct rdma_conn_param param = { .private_data = info, .private_data_len = sizeof(info) };
	uint8_t *buffers = calloc(2, size);
	struct ibv_mr *mr = buffers ? rdma_reg_msgs(id, buffers, 2 * size) : NULL;
	int ret;

	param.responder_resources = param.initiator_depth = 1; /* READs; some devices refuse 0 */
	param.retry_count = 6;                                 /* for soft-RoCE 7 means: forever */
	param.rnr_retry_count = 7;                             /* forever */
	alarm(SILENCE_LIMIT_S);
	if (stop) /* perhaps just before: then that alarm has been replaced */
		alarm(1);
	if (!mr)
		ret = fail(buffers ? "rdma_reg_msgs" : "calloc", errno, ": see ulimit -l");
	else if (rdma_post_recv(id, NULL, buffers + size, size, mr))
		ret = fail("rdma_post_recv", errno, "");
	else if (rdma_connect(id, &param) || id->event->event != RDMA_CM_EVENT_ESTABLISHED)
		ret = fail("rdma_connect", errno,
			   ": does nobody listen there, or has the server refused us?");
	else
		ret = talk(id, mr, buffers);
	alarm(0);
	rdma_destroy_qp(id); /* before the memory that its receive points to */
	if (mr && rdma_dereg_mr(mr))
		ret = fail("rdma_dereg_mr", errno, "");
	free(buffers);
	return ret;
}

static int is_number(const char *text, uint64_t max, uint64_t *value)
{
	char unit = 0, more;
	int n = sscanf(text, "%" SCNu64 "%c%c", value, &unit, &more);
	int up = n < 2 ? 0 : unit == 'k' ? 10 : unit == 'm' ? 20 : unit == 'g' ? 30 : 63;

	return *text >= '0' && *text <= '9' && n < 3 && *value <= max >> up && (*value <<= up);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "address", 1, NULL, 'a' }, { "port", 1, NULL, 'p' }, { "count", 1, NULL, 'c' },
		{ "size", 1, NULL, 's' },    { "help", 0, NULL, 'h' }, { 0 },
	};
	struct ibv_qp_init_attr attr = { .cap = { 1, 1, 1, 1, 0 }, .sq_sig_all = 1 };
	struct rdma_addrinfo *info, want = { .ai_port_space = RDMA_PS_TCP };
	struct sigaction action = { .sa_handler = on_signal }; /* no SA_RESTART */
	char *address = NULL, service[8];
	struct rdma_cm_id *id;
	int letter, ok = 1, ret;

	while (ok && (letter = getopt_long(argc, argv, ":a:p:c:s:h", options, NULL)) != -1)
		ok = (letter == 'a' && (address = optarg)) ||
		     (letter == 'p' && is_number(optarg, 65535, &port)) ||
		     (letter == 'c' && is_number(optarg, 999999999999, &count)) ||
		     (letter == 's' && is_number(optarg, 1ull << 31, &size));
	if (!ok || !address || optind < argc) {
		fprintf(letter == 'h' ? stdout : stderr,
			NAME ": %s: usage: -a ADDRESS [-p PORT] [-c COUNT] [-s BYTES[k|m|g]]\n",
			ok && !address ? "no address" : argv[ok ? optind : optind - 1]);
		return letter == 'h' ? 0 : 2;
	}
	if (sigaction(SIGALRM, &action, NULL) || sigaction(SIGINT, &action, NULL) ||
	    sigaction(SIGTERM, &action, NULL))
		return fail("sigaction", errno, "") != 0;
	snprintf(service, sizeof(service), "%" PRIu64, port);
	ret = rdma_getaddrinfo(address, service, &want, &info);
	if (ret) {
		SAY("rdma_getaddrinfo: %s\n", ret == -1 ? strerror(errno) : gai_strerror(ret));
		return ret == EAI_NONAME ? 2 : 1;
	}
	ret = rdma_create_ep(&id, info, NULL, &attr) ? errno : 0;
	rdma_freeaddrinfo(info);
	if (ret)
		return fail("rdma_create_ep", ret, ": no device or way (devices --check)?") !=
		       EINTR;
	ret = connect_and_talk(id);
	rdma_destroy_ep(id);
	if (fflush(stdout)) {
		SAY("stdout: %s\n", strerror(errno));
		return 1;
	}
	return ret && ret != EINTR;
}
