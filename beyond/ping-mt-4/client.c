/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Threads that READ what examples/store_server counts, each one READ after the other, and what
 * they share meanwhile. A whole program, of the library and libibverbs alone: main is at the end.
 *
 *     ping-mt-4/client ADDRESS nothing|cq|poller|qp THREADS COUNT
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "our_control.h"

#define PORT         "12321"
#define SIZE         64
#define MOST_THREADS 64
#define LIMIT_S      10 /* limit for each READ, as the server's host may be dead */

/* The private data that store_server sends with its accept; big-endian. */
struct where {
	uint64_t address;
	uint32_t rkey;
	uint32_t zero;
};

/* The state of one thread. Threads that share a client or a CQ have the same pointers. */
struct pinger {
	struct our_control *client;
	struct ibv_cq *cq;
	_Atomic unsigned long done; /* this thread's READs, counted by a thread that polls the CQ */
	sem_t answered;             /* a thread that polls for all posts this instead */
	uint64_t number;
};

static struct pinger pingers[MOST_THREADS];
static unsigned long threads, count;
static bool one_qp, one_cq, one_poller;
static struct addrinfo *server;
static _Atomic bool failed, finished;

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "ping-mt-4: %s\n", our_error_text(error, text, sizeof(text)));
}

static const struct our_config config = {
	.waiting = { &our_cm_nonblocking, &our_busy_polling },
	.report = report,
	.timeout_s = 10,
};

static bool fail(const char *call, int error)
{
	fprintf(stderr, "ping-mt-4: %s: %s\n", call, strerror(error));
	failed = true;
	return false;
}

/*
 * Takes one completion, if there is one, of any thread's READ. ibv_poll_cq takes a lock, hands out each
 * completion once, and does not ask who has posted the request. The wr_id tells the thread.
 */
static void take_completion(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int polled = ibv_poll_cq(cq, 1, &wc);

	if (polled < 0)
		fail("ibv_poll_cq", EIO);
	else if (polled && wc.status != IBV_WC_SUCCESS)
		fail(ibv_wc_status_str(wc.status), EIO);
	else if (polled && one_poller)
		sem_post(&pingers[wc.wr_id].answered);
	else if (polled) /* release: what the READ has brought is there before the count */
		atomic_fetch_add_explicit(&pingers[wc.wr_id].done, 1, memory_order_release);
}

/* ibv_post_send takes a lock of the QP: requests of several threads are in some order, and whole. */
static bool post_read(const struct pinger *me)
{
	const struct where *where = (const struct where *)me->client->cm_event.private_data;
	struct ibv_sge sge = me->client->memory.buffers[me->number].recv_sge;
	struct ibv_send_wr *bad_wr, wr = {
		.wr_id = me->number,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { be64toh(where->address), be32toh(where->rkey) },
	};
	int ret = ibv_post_send(me->client->qp, &wr, &bad_wr);

	return ret ? fail("ibv_post_send", ret < 0 ? errno : ret) : true;
}

static void *ping(void *context)
{
	struct timespec until = { 0 };
	struct pinger *me = context;
	unsigned long i;

	for (i = 0; i < count && !failed && post_read(me); i++) {
		until.tv_sec = time(NULL) + LIMIT_S;
		if (one_poller && sem_timedwait(&me->answered, &until))
			fail("sem_timedwait", errno);
		while (!one_poller && !failed &&
		       atomic_load_explicit(&me->done, memory_order_acquire) <= i) {
			take_completion(me->cq);
			if (time(NULL) > until.tv_sec)
				fail("waiting for a READ", ETIMEDOUT);
		}
	}
	return NULL;
}

static void *poll_for_all(void *cq)
{
	unsigned long i;

	while (!finished && !failed)
		take_completion(cq);
	for (i = 0; i < threads; i++)
		sem_post(&pingers[i].answered); /* nobody else will wake them */
	return NULL;
}

/* READs over iWARP need REMOTE_WRITE, because the peer's device writes here. */
static int access_to_read(const struct our_control *client)
{
	bool iwarp = client->verbs->device->transport_type == IBV_TRANSPORT_IWARP;

	return IBV_ACCESS_LOCAL_WRITE | (iwarp ? IBV_ACCESS_REMOTE_WRITE : 0);
}

static bool connect_one(struct pinger *me)
{
	struct our_control *client;

	if (our_create_control_struct(&config, OUR_CLIENT, &client))
		return false;
	me->client = client;
	client->read_depth = 16;
	if (our_create_id(client) || our_client_bind(client, server->ai_addr))
		return false;
	/* librdmacm has one context a device, so all QPs of the process there may share a CQ */
	me->cq = one_cq && me != pingers
			 ? pingers->cq
			 : ibv_create_cq(client->verbs, MOST_THREADS, NULL, NULL, 0);
	if (!me->cq)
		return fail("ibv_create_cq", errno ? errno : ENOMEM);
	client->send_cq = me->cq;
	if (our_setup_qp(client, (uint32_t)threads, 1) ||
	    our_setup_buffers(client, (uint32_t)threads, SIZE, access_to_read(client)) ||
	    our_client_connect(client, NULL, 0))
		return false;
	return client->cm_event.private_data_length >= sizeof(struct where) ||
	       fail("rdma_connect: this is no store_server", EPROTO);
}

static bool connect_all(void)
{
	unsigned long i;
	bool ok = true;

	for (i = 0; i < threads && ok; i++) {
		pingers[i].number = i;
		sem_init(&pingers[i].answered, 0, 0);
		if (one_qp && i) {
			pingers[i].client = pingers->client;
			pingers[i].cq = pingers->cq;
		} else {
			ok = connect_one(&pingers[i]);
		}
	}
	return ok;
}

static void disconnect_all(void)
{
	struct our_control *clients[MOST_THREADS];
	unsigned long i;

	for (i = 0; i < threads; i++)
		clients[i] = pingers[i].client;
	our_close_all(clients, one_qp ? 1 : threads);
	for (i = 0; i < threads; i++) {
		if (pingers[i].cq && (!i || !one_cq))
			ibv_destroy_cq(pingers[i].cq);
	}
}

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void tell_thread_domains(void)
{
	struct ibv_td_init_attr attr = { 0 };
	struct ibv_td *td = ibv_alloc_td(pingers->client->verbs, &attr);

	printf("thread domains: %s\n", td ? "yes" : strerror(errno));
	if (td)
		ibv_dealloc_td(td);
}

static void run_threads(const char *share)
{
	double wall_s = seconds(CLOCK_MONOTONIC), cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID);
	pthread_t started[MOST_THREADS], poller;
	unsigned long i, n;

	if (one_poller && pthread_create(&poller, NULL, poll_for_all, pingers->cq)) {
		one_poller = false;
		failed = true;
	}
	for (n = 0; n < threads; n++) {
		if (pthread_create(&started[n], NULL, ping, &pingers[n]))
			break;
	}
	failed = failed || n < threads;
	for (i = 0; i < n; i++)
		pthread_join(started[i], NULL);
	finished = true;
	if (one_poller)
		pthread_join(poller, NULL);
	wall_s = seconds(CLOCK_MONOTONIC) - wall_s;
	cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
	if (!failed)
		printf("%lu threads share %s: %.0f READs/s, %.1f us of CPU each\n", threads, share,
		       (double)(threads * count) / wall_s, cpu_s * 1e6 / (double)(threads * count));
}

int main(int argc, char **argv)
{
	static const char *const ways[] = { "nothing", "cq", "poller", "qp" };
	const char *share = argc == 5 ? argv[2] : "";
	int way = 0;

	while (way < 4 && strcmp(share, ways[way]))
		way++;
	threads = argc == 5 ? strtoul(argv[3], NULL, 10) : 0;
	count = argc == 5 ? strtoul(argv[4], NULL, 10) : 0;
	if (way == 4 || !threads || threads > MOST_THREADS || !count) {
		fprintf(stderr,
			"usage: ping-mt-4/client ADDRESS nothing|cq|poller|qp THREADS COUNT\n");
		return 2;
	}
	one_cq = way > 0;
	one_poller = way == 2;
	one_qp = way == 3;
	signal(SIGPIPE, SIG_IGN);
	if (getaddrinfo(argv[1], PORT, NULL, &server))
		return fail("getaddrinfo", EINVAL) + 2;
	failed = !connect_all();
	if (!failed) {
		tell_thread_domains();
		run_threads(share);
	}
	disconnect_all();
	freeaddrinfo(server);
	if (fflush(stdout))
		fail("stdout", errno);
	return failed;
}
