/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Tests of a library that promises what mine.h says: check ADDRESS [SEED [PART [VARIANT]]], with 0
 * for all parts. Each case has two processes, which find each other at ADDRESS. Counts, lengths and
 * buffers come from the seed.
 */
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "course/mine/mine.h"

#define PORT      "12322"
#define LIMIT_S   60  /* seconds for each case */
#define QUIET_MS  300 /* the time that one side is watched, or left alone */
#define MEMORY    (3 * MINE_LONGEST + 100)
#define WORKS(x)  must((x) == 0, #x " == 0")
#define IS(x, to) must((x) == (to), #x " == " #to)

/* One of the two processes of a case. */
struct side {
	struct mine *mine;
	int tell,
		hear; /* pipes to and from the other one, for what must not go through the library */
};

static uint8_t memory[MEMORY], data[MINE_LONGEST], expected[MINE_LONGEST];
static uint32_t count, buffers; /* drawn for each case */
static uint32_t variant;        /* the VARIANT; 0: none */
static const char *address, *role;
static unsigned int cq_events;

int __real_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context);
int __wrap_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context);

int __wrap_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	cq_events++;
	return __real_ibv_get_cq_event(channel, cq, context);
}

static void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "# %s: expected: %s\n", role, what);
	_exit(1);
}

/* If the other side has ended, it has said why. */
static void tell(const struct side *side)
{
	if (write(side->tell, "x", 1) != 1)
		_exit(1);
}

static void hear(const struct side *side)
{
	char byte;

	if (read(side->hear, &byte, 1) != 1)
		_exit(1);
}

static uint32_t length_of(uint32_t message)
{
	return message % 7 ? (message * 2654435761u) % MINE_LONGEST + 1 : MINE_LONGEST;
}

static void fill(uint8_t *to, uint32_t length, uint32_t message)
{
	uint32_t i;

	for (i = 0; i < length; i++)
		to[i] = (uint8_t)(message * 31 + i * 7 + (i >> 8));
}

static void send_number(struct side *side, uint32_t message)
{
	fill(data, length_of(message), message);
	WORKS(mine_send(side->mine, data, length_of(message)));
	memset(data, 0xff, sizeof(data)); /* the buffer is ours again */
}

static void recv_number(struct side *side, uint32_t message)
{
	uint32_t length = 0;

	WORKS(mine_recv(side->mine, data, &length));
	IS(length, length_of(message));
	fill(expected, length, message);
	IS(memcmp(data, expected, length), 0);
}

/*
 * A receiver of a message may leave before its device has acknowledged it; the sender would then be
 * right to say that the peer has left. So the last message of a case is sent before anyone leaves.
 */
static void send_last(struct side *side, uint32_t message)
{
	send_number(side, message);
	tell(side);
}

static void recv_last(struct side *side, uint32_t message)
{
	recv_number(side, message);
	hear(side);
}

static void echo_client(struct side *side)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		send_number(side, i);
		recv_number(side, i);
	}
	IS(mine_send(side->mine, memory, MINE_LONGEST + 1), EMSGSIZE);
	send_last(side, count);
}

static void echo_server(struct side *side)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		recv_number(side, i);
		send_number(side, i);
	}
	recv_last(side, count);
}

static void hello(struct side *side)
{
	IS(mine_peer_buffers(side->mine), buffers);
	IS(mine_peer_length(side->mine), (uint64_t)MEMORY);
	tell(side); /* neither closes before the other has looked */
	hear(side);
}

static void leave(struct side *side)
{
	uint32_t i;

	for (i = 0; i < buffers; i++)
		send_number(side, i);
	tell(side);
	hear(side);
}

static void die(struct side *side)
{
	leave(side);
	raise(SIGKILL);
}

/* Takes everything, also if it looks only when the peer has left. */
static void be_left(struct side *side)
{
	uint32_t i, length;

	hear(side); /* everything has been sent */
	tell(side);
	poll(NULL, 0, QUIET_MS); /* the other side has time to leave */
	for (i = 0; i < buffers; i++)
		recv_number(side, i);
	IS(mine_recv(side->mine, data, &length), ECONNRESET);
}

static void slow_server(struct side *side)
{
	recv_number(side, 0);
	poll(NULL, 0, QUIET_MS); /* the client has nothing to do meanwhile */
	send_number(side, 0);
	recv_last(side, 1);
}

static void sleeper(struct side *side)
{
	send_number(side, 0);
	recv_number(side, 0);
	must(cq_events > 0, "ibv_get_cq_event is called while there is nothing to do");
	send_last(side, 1);
}

static void fast_sender(struct side *side)
{
	uint32_t i;

	for (i = 0; i < 4 * buffers; i++) {
		send_number(side, i);
		tell(side);
	}
	hear(side);
}

static void late_receiver(struct side *side)
{
	struct pollfd more = { .fd = side->hear, .events = POLLIN };
	uint32_t i;

	for (i = 0; i < buffers; i++)
		hear(side);
	must(poll(&more, 1, QUIET_MS) == 0, "mine_send waits when the peer has no buffer");
	for (i = 0; i < 4 * buffers; i++)
		recv_number(side, i);
	tell(side);
}

static void getter(struct side *side)
{
	static uint8_t copy[MEMORY];
	uint32_t at = count, length = MEMORY - 2 * count;

	WORKS(mine_get(side->mine, 0, copy, MEMORY));
	fill(memory, MEMORY, 1);
	IS(memcmp(copy, memory, MEMORY), 0);
	memset(copy, 0xaa, sizeof(copy));
	WORKS(mine_put(side->mine, at, copy, length));
	IS(mine_get(side->mine, MEMORY - 1, copy, 2), EINVAL);
	IS(mine_put(side->mine, UINT64_MAX, copy, 2), EINVAL);
	WORKS(mine_get(side->mine, at - 1, copy, 2));
	IS(copy[0], memory[at - 1]);
	IS(copy[1], 0xaa);
	tell(side);
	send_last(side, 0); /* the connection goes on */
}

/* The owner of the memory does nothing until everything was read and written. */
static void owner(struct side *side)
{
	uint32_t i;

	hear(side);
	fill(data, count, 1);
	IS(memcmp(memory, data, count), 0);
	for (i = count; i < MEMORY - count; i++)
		IS(memory[i], 0xaa);
	recv_last(side, 0);
}

/* The peer is not of this library, but says what mine.h asks of this variant. */
static void meet(struct side *side)
{
	IS(mine_peer_buffers(side->mine), 7);
	IS(mine_peer_length(side->mine), 200u);
	tell(side);
	hear(side);
}

static const struct a_case {
	int part;
	const char *name;
	void (*client)(struct side *side),    /* NULL: a stranger */
		(*server)(struct side *side); /* NULL: refuses the stranger */
	bool sleep, dies, one_buffer;
} cases[] = {
	{ 1, "messages there and back", echo_client, echo_server, 0, 0, 0 },
	{ 2, "each side knows the other's buffers", hello, hello, 0, 0, 0 },
	{ 2, "a stranger is refused", NULL, NULL, 0, 0, 0 },
	{ 3, "the peer leaves", leave, be_left, 0, 0, 0 },
	{ 3, "the peer dies", die, be_left, 0, 1, 0 },
	{ 4, "asleep, and woken", sleeper, slow_server, 1, 0, 0 },
	{ 4, "messages there and back, asleep", echo_client, echo_server, 1, 0, 0 },
	{ 4, "the peer dies, asleep", die, be_left, 1, 1, 0 },
	{ 5, "a sender waits for buffers", fast_sender, late_receiver, 0, 0, 0 },
	{ 5, "one buffer, asleep", fast_sender, late_receiver, 1, 0, 1 },
	{ 6, "memory of the peer", getter, owner, 0, 0, 0 },
	{ 6, "memory of the peer, asleep", getter, owner, 1, 0, 0 },
	{ 2, "the bytes of your variant", NULL, meet, 0, 0, 0 },
};

enum {
	BUFFERS,
	ADDRESS,
	LENGTH,
	RKEY,
	FIELDS
};

/* Finds where each field of what a side says begins, in this variant: see mine.h. */
static void place(uint32_t *at, bool print)
{
	static const char *const names[] = { "buffers", "address", "length", "rkey" };
	static const uint32_t bytes[] = { 4, 8, 8, 4 };
	uint32_t order[] = { BUFFERS, ADDRESS, LENGTH, RKEY };
	uint32_t rest = variant, end = 4, i, last;

	for (i = FIELDS; i; rest /= i, i--) {
		last = order[rest % i];
		order[rest % i] = order[i - 1];
		order[i - 1] = last;
	}
	for (i = 0; i < FIELDS; i++) {
		at[order[i]] = end;
		end += bytes[order[i]];
		if (print)
			printf("%s%s",
			       i ? ", " : "# after your variant's number: ", names[order[i]]);
	}
	if (print)
		printf("\n");
}

/* Connects without this library: says nothing, and is refused; or speaks the variant. */
static void stranger(struct side *side, bool speaks)
{
	struct ibv_qp_init_attr attr = { .cap = { 1, 1, 1, 1, 0 } };
	struct rdma_addrinfo want = { .ai_port_space = RDMA_PS_TCP }, *info;
	uint8_t says[28] = { (uint8_t)(variant >> 24), (uint8_t)(variant >> 16),
			     (uint8_t)(variant >> 8), (uint8_t)variant };
	struct rdma_conn_param param = { .private_data = says, .retry_count = 6 };
	struct rdma_cm_id *id;
	uint32_t at[FIELDS];

	place(at, false);
	says[at[BUFFERS] + 3] = 7;
	says[at[LENGTH] + 7] = 200;
	WORKS(rdma_getaddrinfo(address, PORT, &want, &info));
	WORKS(rdma_create_ep(&id, info, NULL, &attr));
	if (!speaks) {
		must(rdma_connect(id, &param) && errno == ECONNREFUSED,
		     "a client without private data is refused");
		return;
	}
	param.private_data_len = sizeof(says);
	WORKS(rdma_connect(id, &param));
	tell(side);
	hear(side);
	rdma_disconnect(id);
}

static void play(const struct a_case *of, struct side *side, bool server)
{
	struct mine_options options = { buffers, of->sleep, memory, MEMORY };
	struct mine_listener *listener;

	alarm(LIMIT_S);
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	role = server ? "server" : "client";
	fill(memory, MEMORY, 1);
	if (server) {
		WORKS(mine_listen(address, PORT, &listener));
		tell(side);
		IS(mine_accept(listener, &options, &side->mine), of->server ? 0 : EPROTO);
	} else {
		hear(side);
		if (of->client)
			WORKS(mine_connect(address, PORT, &options, &side->mine));
		else
			stranger(side, of->server);
	}
	if (server ? of->server : of->client) {
		(server ? of->server : of->client)(side);
		mine_close(side->mine);
	}
	if (server)
		mine_stop_listening(listener);
	_exit(0);
}

/* Returns whether the case has passed. */
static bool run(const struct a_case *of)
{
	int up[2], down[2], status[2], i;
	pid_t pid[2];

	if (pipe(up) || pipe(down))
		exit(2);
	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			struct side side = { NULL, i ? up[1] : down[1], i ? down[0] : up[0] };

			close(i ? up[0] : down[0]);
			close(i ? down[1] : up[1]);
			play(of, &side, i);
		}
	}
	for (i = 0; i < 2; i++)
		close(up[i]), close(down[i]);
	for (i = 0; i < 2; i++)
		waitpid(pid[i], &status[i], 0);
	for (i = 0; i < 2; i++)
		if (WIFSIGNALED(status[i]) && !(of->dies && !i))
			fprintf(stderr, "# %s: %s\n", i ? "server" : "client",
				WTERMSIG(status[i]) == SIGALRM ? "not done in time"
							       : strsignal(WTERMSIG(status[i])));
	return !status[1] &&
	       (of->dies ? WIFSIGNALED(status[0]) && WTERMSIG(status[0]) == SIGKILL : !status[0]);
}

int main(int argc, char **argv)
{
	int part = argc > 3 ? atoi(argv[3]) : 0, number = 0, failed = 0;
	size_t i;

	if (argc < 2) {
		fprintf(stderr, "usage: check ADDRESS [SEED [PART [VARIANT]]]\n");
		return 2;
	}
	address = argv[1];
	srandom(argc > 2 ? (unsigned int)atoi(argv[2]) : 1);
	variant = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 16) : 0;
	if (variant)
		place((uint32_t[FIELDS]){ 0 }, true);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		count = 50 + (uint32_t)random() % 50;
		buffers = cases[i].one_buffer ? 1 : 2 + (uint32_t)random() % 15;
		if ((part && cases[i].part != part) || (cases[i].server == meet && !variant))
			continue;
		bool passed = run(&cases[i]);

		failed += !passed;
		printf("%sok %d - part %d: %s\n", passed ? "" : "not ", ++number, cases[i].part,
		       cases[i].name);
		fflush(stdout);
	}
	printf("1..%d\n", number);
	return failed || !number;
}
