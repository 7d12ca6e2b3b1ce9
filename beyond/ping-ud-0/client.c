/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-ud-0/client: sends datagrams to the server, which sends them back, and counts those that do
 * not come. Nothing is connected. Read main first, then upwards.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAME     "ping-ud-0/client"
#define GRH      40           /* bytes in front of what is received: the global route header */
#define SLOT     (GRH + 4096) /* room for the longest datagram of any device */
#define LIMIT_NS 100000000    /* a message that is not back after this time is lost */
#define AT_ONCE  1024         /* messages under way, at most */

struct message {
	uint64_t number, sent_ns;
};

static uint64_t count = 1000, size = 64, window = 1, qkey = RDMA_UDP_QKEY;
static uint64_t sent, came, others, total_ns;

static int failed(const char *call, int error, const char *cause)
{
	if (error <= 0) /* ibv_poll_cq returns -1, not an errno value */
		error = EIO;
	fprintf(stderr, NAME ": %s: %s (%d)%s%s\n", call, strerror(error), error,
		*cause ? ": " : "", cause);
	return error;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * Each send says where it goes. Its completion says that the message has left, and not that it has
 * arrived. A message that is longer than a packet is not sent at all, and completes all the same.
 */
static int send_message(struct rdma_cm_id *id, struct ibv_mr *mr,
			const struct rdma_ud_param *server, struct ibv_ah *ah, uint64_t number)
{
	struct message *message = (struct message *)((uint8_t *)mr->addr + 2 * window * SLOT);
	struct ibv_sge sge = { (uintptr_t)message, (uint32_t)size, mr->lkey };
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND };
	struct ibv_wc wc;
	int ret;

	*message = (struct message){ number, now_ns() };
	wr.wr.ud.ah = ah;                      /* the port to send through, and the address */
	wr.wr.ud.remote_qpn = server->qp_num;  /* the QP there */
	wr.wr.ud.remote_qkey = (uint32_t)qkey; /* the QP drops datagrams with any other QKEY */
	ret = ibv_post_send(id->qp, &wr, &bad);
	if (ret)
		return failed("ibv_post_send", ret, "");
	if (rdma_get_send_comp(id, &wc) < 0)
		return failed("rdma_get_send_comp", errno, "");
	return wc.status ? failed("send", EIO, ibv_wc_status_str(wc.status)) : 0;
}

/* Takes what comes until all messages from `first` on are back, or the time is over. */
static int collect(struct rdma_cm_id *id, struct ibv_mr *mr, uint64_t first, uint64_t last)
{
	uint64_t until_ns = now_ns() + LIMIT_NS, missing = last - first, index;
	bool back[AT_ONCE] = { false };
	const struct message *message;
	struct ibv_wc wc;
	uint8_t *slot;
	int n;

	while (missing && now_ns() < until_ns) {
		n = ibv_poll_cq(id->recv_cq, 1, &wc);
		if (!n)
			continue;
		if (n < 0 || wc.status)
			return failed("receive", EIO, n < 0 ? "" : ibv_wc_status_str(wc.status));
		slot = (uint8_t *)(uintptr_t)wc.wr_id;
		message = (const struct message *)(slot + GRH); /* behind the header */
		index = message->number - first; /* huge for a message that was counted as lost */
		if (wc.byte_len != GRH + size || index >= last - first || back[index]) {
			others++;
		} else {
			back[index] = true;
			missing--;
			came++;
			total_ns += now_ns() - message->sent_ns;
		}
		if (rdma_post_recv(id, slot, slot, SLOT, mr))
			return failed("rdma_post_recv", errno, "");
	}
	return 0;
}

static int ping(struct rdma_cm_id *id, struct ibv_mr *mr, const struct rdma_ud_param *server,
		struct ibv_ah *ah)
{
	uint64_t first, last, number;
	int ret = 0, collected;

	for (first = 0; first < count && !ret; first = last) {
		last = first + window < count ? first + window : count;
		for (number = first; number < last && !ret; number++) {
			ret = send_message(id, mr, server, ah, number);
			sent += !ret;
		}
		collected = collect(id, mr, first, sent); /* collects also when a send has failed */
		ret = ret ? ret : collected;
	}
	printf("%" PRIu64 " messages of %" PRIu64 " bytes, %" PRIu64 " lost", sent, size,
	       sent - came);
	if (others)
		printf(" (%" PRIu64 " came late or twice)", others);
	if (came)
		printf(", there and back in %.1f us each", (double)total_ns / 1000 / (double)came);
	printf("\n");
	return ret ? ret : came ? 0 : EHOSTUNREACH;
}

/* Asks for the number of the server's QP, and makes an address handle for the way to its port. */
static int find_and_ping(struct rdma_cm_id *id, struct ibv_mr *mr)
{
	struct rdma_ud_param server;
	struct ibv_ah *ah;
	int ret;

	if (rdma_connect(id, NULL))
		return failed("rdma_connect", errno,
			      errno == 1 ? "a status, not an error: nobody listens there" : "");
	/* librdmacm has looked at the status only. */
	if (id->event->event != RDMA_CM_EVENT_ESTABLISHED) {
		fprintf(stderr, NAME ": rdma_connect: %s\n", rdma_event_str(id->event->event));
		return ECONNABORTED;
	}
	server = id->event->param.ud;
	ah = ibv_create_ah(id->pd, &server.ah_attr);
	if (!ah)
		return failed("ibv_create_ah", errno, "");
	ret = ping(id, mr, &server, ah);
	ibv_destroy_ah(ah);
	return ret;
}

static int run(struct rdma_cm_id *id)
{
	uint64_t slots = 2 * window + 1, i; /* the last slot is for messages to send */
	uint8_t *memory = calloc(slots, SLOT), *slot;
	struct ibv_mr *mr = memory ? rdma_reg_msgs(id, memory, slots * SLOT) : NULL;
	int ret = mr ? 0 : failed("rdma_reg_msgs", errno, "see ulimit -l");

	for (i = 0; i < slots - 1 && !ret; i++) {
		slot = memory + i * SLOT;
		if (rdma_post_recv(id, slot, slot, SLOT, mr))
			ret = failed("rdma_post_recv", errno, "");
	}
	if (!ret)
		ret = find_and_ping(id, mr);
	rdma_destroy_qp(id); /* the QP's receives point to the memory */
	if (mr)
		rdma_dereg_mr(mr);
	free(memory);
	return ret;
}

/* A QKEY may be in hexadecimal, too. */
static bool read_number(const char *text, uint64_t *value)
{
	char *end;

	*value = strtoull(text, &end, 0);
	return end != text && !*end && *text != '-';
}

static bool read_option(int letter, const char *text)
{
	switch (letter) {
	case 'c':
		return read_number(text, &count);
	case 's':
		return read_number(text, &size);
	case 'w':
		return read_number(text, &window);
	case 'q':
		return read_number(text, &qkey) && qkey <= UINT32_MAX;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo *info,
		want = { .ai_port_space = RDMA_PS_UDP, .ai_qp_type = IBV_QPT_UD };
	struct ibv_qp_init_attr attr = { .cap = { 1, 0, 1, 1, 0 }, .sq_sig_all = 1 };
	const char *address = NULL, *port = "12321";
	struct rdma_cm_id *id;
	bool known = true;
	int ret, letter;

	while (known && (letter = getopt(argc, argv, "a:p:c:s:w:q:")) != -1) {
		if (letter == 'a')
			address = optarg;
		else if (letter == 'p')
			port = optarg;
		else
			known = read_option(letter, optarg);
	}
	if (!known || !address || !count || size < sizeof(struct message) || size > SLOT - GRH ||
	    !window || window > AT_ONCE) {
		fprintf(stderr, "usage: " NAME " -a ADDRESS [-p PORT] [-c COUNT] [-s BYTES] "
				"[-w MESSAGES-AT-ONCE] [-q QKEY]\n");
		return 2;
	}
	ret = rdma_getaddrinfo(address, port, &want, &info);
	if (ret == -1)
		failed("rdma_getaddrinfo", errno, "");
	else if (ret)
		fprintf(stderr, NAME ": %s: %s\n", address, gai_strerror(ret));
	if (ret)
		return ret == -1 ? 1 : 2;
	attr.cap.max_recv_wr = (uint32_t)(2 * window);
	ret = rdma_create_ep(&id, info, NULL, &attr); /* id, route, PD, two CQs, UD QP */
	if (ret)
		failed("rdma_create_ep", errno,
		       errno == EOPNOTSUPP ? "no UD here, as on any iWARP device" : "");
	rdma_freeaddrinfo(info);
	if (!ret) {
		ret = run(id);
		rdma_destroy_ep(id);
	}
	if (fflush(stdout))
		ret = failed("stdout", errno, "");
	return ret ? 1 : 0;
}
