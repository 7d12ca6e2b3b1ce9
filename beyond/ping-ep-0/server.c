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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME            "ping-ep-0/server"
#define SILENCE_LIMIT_S 60 /* seconds that the client may be silent */
#define SAY(...)        fprintf(stderr, NAME ": " __VA_ARGS__)

static uint64_t port = 12321, count = 1000, size = 64;
static volatile sig_atomic_t stop, accepted; /* a client; refused ones do not count */

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

/* Sleeps until a send or a receive has completed; each second checks that the client lives. */
static int await(struct rdma_cm_id *id, int (*get)(struct rdma_cm_id *, struct ibv_wc *),
		 const char *call, struct ibv_wc *wc)
{
	int seconds;

	for (seconds = 0; get(id, wc) <= 0; seconds++) {
		if (errno != EINTR || stop || seconds == SILENCE_LIMIT_S)
			return fail(call, errno, "");
		if (has_event(id, 0))
			return fail(call, ECONNRESET, ": the client has left");
	}
	if (wc->status == IBV_WC_SUCCESS) /* checked before anything else is read */
		return 0;
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		ibv_poll_cq(id->send_cq, 1, wc); /* if a send has failed, that is the cause */
	if (wc->status == IBV_WC_WR_FLUSH_ERR || wc->status == IBV_WC_SUCCESS)
		return fail(call, has_event(id, 1000) ? ECONNRESET : ECONNABORTED, ": flushed");
	SAY("%s: wr_id %" PRIu64 " on QP 0x%x: %s (status %d, vendor 0x%x)\n", call, wc->wr_id,
	    wc->qp_num, ibv_wc_status_str(wc->status), wc->status, wc->vendor_err);
	return wc->status == IBV_WC_LOC_PROT_ERR ? EIO : ECONNRESET; /* ours, or the client's */
}

/* There are two buffers: one is received into while the other is sent from. */
static int echo(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *buffers, uint64_t message)
{
	uint8_t *this = buffers + message % 2 * size, *other = buffers + (message + 1) % 2 * size;
	struct ibv_wc wc;
	int ret = await(id, rdma_get_recv_comp, "rdma_get_recv_comp", &wc);

	if (!ret && wc.byte_len != size) {
		SAY("a message of %u bytes: is -s not the client's?\n", wc.byte_len);
		return ECONNRESET;
	}
	if (!ret && message) /* then the other buffer is free */
		ret = await(id, rdma_get_send_comp, "rdma_get_send_comp", &wc);
	if (ret)
		return ret;
	if (rdma_post_recv(id, NULL, other, size, mr)) /* before the client can send again */
		return fail("rdma_post_recv", errno, "");
	return rdma_post_send(id, NULL, this, size, mr, 0) ? fail("rdma_post_send", errno, "") : 0;
}

/* All messages. The client ends the connection: if we left first, our last one could be lost. */
static int talk(struct rdma_cm_id *id, struct ibv_mr *mr, uint8_t *buffers)
{
	int ret = 0;
	uint64_t n;

	accepted = 1;
	alarm(1);
	for (n = 0; !ret && !stop && n < count; n += !ret)
		ret = echo(id, mr, buffers, n);
	printf("%" PRIu64 " messages of %" PRIu64 " bytes sent back\n", n, size);
	alarm(0);
	if (!ret && !stop)
		has_event(id, SILENCE_LIMIT_S * 1000);
	alarm(7); /* for the client's answer */
	if (rdma_disconnect(id) && errno != EINVAL && errno != EINTR && !ret)
		ret = fail("rdma_disconnect", errno, "");
	return ret;
}

/* Memory, a receive for the first message, the exchange. A client's mistake is not our failure. */
static int serve(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 }; /* forever */
	uint8_t *buffers = calloc(2, size);
	struct ibv_mr *mr = buffers ? rdma_reg_msgs(id, buffers, 2 * size) : NULL;
	int ret;

	param.responder_resources = id->event->param.conn.responder_resources > 0;
	param.initiator_depth = id->event->param.conn.initiator_depth > 0; /* of READs */
	alarm(SILENCE_LIMIT_S);
	if (stop) /* perhaps just before: then that alarm has been replaced */
		alarm(1);
	if (!mr)
		ret = fail(buffers ? "rdma_reg_msgs" : "calloc", errno, ": see ulimit -l");
	else if (rdma_post_recv(id, NULL, buffers, size, mr))
		ret = fail("rdma_post_recv", errno, "");
	else if (rdma_accept(id, &param) || id->event->event != RDMA_CM_EVENT_ESTABLISHED)
		ret = fail("rdma_accept", errno, "");
	else
		ret = talk(id, mr, buffers);
	alarm(0);
	rdma_destroy_qp(id); /* before the memory that its receive points to */
	if (mr && rdma_dereg_mr(mr))
		ret = fail("rdma_dereg_mr", errno, "");
	free(buffers);
	if (ret == ETIMEDOUT || ret == ECONNRESET || ret == ECONNREFUSED || ret == ECONNABORTED)
		ret = 0;
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
	struct rdma_addrinfo *info, want = { RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };
	struct sigaction action = { .sa_handler = on_signal }; /* no SA_RESTART */
	char *address = NULL, service[8];
	struct rdma_cm_id *listener, *id;
	int letter, ok = 1, ret;

	while (ok && (letter = getopt_long(argc, argv, ":a:p:c:s:h", options, NULL)) != -1)
		ok = (letter == 'a' && (address = optarg)) ||
		     (letter == 'p' && is_number(optarg, 65535, &port)) ||
		     (letter == 'c' && is_number(optarg, 999999999999, &count)) ||
		     (letter == 's' && is_number(optarg, 1ull << 31, &size));
	if (!ok || optind < argc) {
		fprintf(letter == 'h' ? stdout : stderr,
			NAME ": %s: usage: [-a ADDRESS] [-p PORT] [-c COUNT] [-s BYTES[k|m|g]]\n",
			argv[ok ? optind : optind - 1]);
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
	ret = rdma_create_ep(&listener, info, NULL, &attr) ? errno : 0;
	rdma_freeaddrinfo(info);
	if (ret)
		return fail("rdma_create_ep", ret, ": port taken? no device there?") != EINTR;
	ret = rdma_listen(listener, 0) ? fail("rdma_listen", errno, "")
				       : !SAY("listening on port %s\n", service);
	while (!ret && !accepted && !stop) {
		if (!rdma_get_request(listener, &id)) {
			ret = serve(id);
			rdma_destroy_ep(id);
		} else if (errno != EINTR || stop) {
			ret = fail("rdma_get_request", errno, "");
		}
	}
	if (listener->event && listener->event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		rdma_destroy_ep(listener->event->id); /* whose QP could not be made */
	rdma_destroy_ep(listener);
	if (fflush(stdout)) {
		SAY("stdout: %s\n", strerror(errno));
		return 1;
	}
	return ret && ret != EINTR;
}
