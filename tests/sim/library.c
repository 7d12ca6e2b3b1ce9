/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * library: a program with both ends of a connection of our_control, which says what the library does:
 * each argument is one question. Of the project it takes our_control.h only; it runs on a device, too:
 *
 *     library QUESTION [ADDRESS]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "our_control.h"

#define MOST   5 /* sends, and receives, that are asked for */
#define SIZE   64
#define LONG   4096 /* than the MTU */
#define LIMIT  4    /* the limit of a shared receive queue */
#define KILLED 24
#define ALL    3 /* connections that are closed together */
#define MANY   64
#define CROWD  8
#define DEPTH  16
#define WAVE   24 /* messages, more than the library polls at once */

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "library: %s\n", our_error_text(error, text, sizeof(text)));
}

static struct our_config config = {
	.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
	.report = report,
	.timeout_s = 5,
};
static struct sockaddr_in address = { .sin_family = AF_INET };
static struct our_control *listener, *client, *agent;
static uint32_t size = SIZE, most = MOST;
static bool stays; /* the agent, on its listener's channel */
static uint8_t private_data[256];
static size_t n_asked, n_answered; /* private data, of each side */

static void must(int ret, const char *what)
{
	if (ret) {
		printf("%s: %s\n", what, strerror(ret));
		exit(1);
	}
}

/* ---- A connection ---- */

static void set_up(struct our_control *control)
{
	bool iwarp = control->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	int access = IBV_ACCESS_LOCAL_WRITE | (iwarp ? IBV_ACCESS_REMOTE_WRITE : 0); /* to READ */

	must(our_setup_qp(control, most, most), "our_setup_qp");
	must(our_setup_buffers(control, most, size, access), "our_setup_buffers");
}

/* With `device` NULL, the connection has a device of its own. */
static struct our_control *connect_client(struct our_device *device)
{
	must(our_create_control_struct(&config, OUR_CLIENT, &client), "our_create_control_struct");
	must(our_create_id(client), "our_create_id");
	must(our_client_bind(client, (struct sockaddr *)&address), "our_client_bind");
	if (device)
		must(our_use_device(client, device), "our_use_device");
	set_up(client);
	must(our_client_connect(client, private_data, n_asked), "our_client_connect");
	return client;
}

static void *be_client(void *unused)
{
	connect_client(NULL);
	return unused;
}

static void listen_for_it(void)
{
	must(our_create_control_struct(&config, OUR_LISTENER, &listener),
	     "our_create_control_struct");
	must(our_create_id(listener), "our_create_id");
	must(our_listener_bind(listener, (struct sockaddr *)&address, 1), "our_listener_bind");
}

/* With `device` NULL, the connection has receives of its own, which are posted. */
static void connect_both(struct our_device *device)
{
	pthread_t thread;
	uint32_t i;

	must(pthread_create(&thread, NULL, be_client, NULL), "pthread_create");
	must(our_get_request(listener, &agent), "our_get_request");
	if (!stays)
		must(our_migrate_id(agent), "our_migrate_id");
	if (device)
		must(our_use_device(agent, device), "our_use_device");
	set_up(agent);
	for (i = 0; !device && i < most; i++)
		must(our_post_recv(agent, i), "our_post_recv");
	must(stays ? our_agent_accept(agent, NULL, 0)
		   : our_agent_connect(agent, private_data, n_answered),
	     stays ? "our_agent_accept" : "our_agent_connect");
	pthread_join(thread, NULL);
}

static void take(struct our_control *control, int n)
{
	struct our_completion completion;

	while (n--)
		must(our_await_completion(control, &completion), "our_await_completion");
}

static void close_both(void)
{
	our_close(client);
	our_close(agent);
}

/* As many private data as the header says, and then one byte more. */
static int tell_most(void)
{
	n_asked = 56;
	n_answered = 196;
	connect_both(NULL);
	printf("57: %s\n", strerror(our_client_connect(client, private_data, n_asked + 1)));
	printf("197: %s\n", strerror(our_agent_connect(agent, private_data, n_answered + 1)));
	close_both();
	return 0;
}

/* ---- How much may be posted ---- */

static int post_sends(void)
{
	int n = 0, ret = 0;

	connect_both(NULL);
	while (n < 10 * MOST && !ret) {
		ret = our_post_send(client, 0, SIZE);
		n += !ret;
	}
	printf("%d sends, then: %s\n", n, strerror(ret));
	take(client, 1);
	printf("with a completion: %s\n", strerror(our_post_send(client, 0, SIZE)));
	close_both();
	return 0;
}

static int post_receives(void)
{
	int n = 0, ret = 0;

	connect_both(NULL);
	while (n < 10 * MOST && !ret) {
		ret = our_post_recv(client, 0);
		n += !ret;
	}
	printf("%d receives, then: %s\n", n, strerror(ret));
	must(our_post_send(agent, 0, SIZE), "our_post_send");
	take(client, 1);
	printf("with a completion: %s\n", strerror(our_post_recv(client, 0)));
	close_both();
	return 0;
}

/* Sends of which the last is signaled. */
static void make_list(struct ibv_send_wr *wrs, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		wrs[i] = client->memory.buffers[0].send_wr;
		wrs[i].next = i < n - 1 ? &wrs[i + 1] : NULL;
		wrs[i].send_flags = i < n - 1 ? 0 : IBV_SEND_SIGNALED;
	}
}

static int post_unsignaled(void)
{
	struct ibv_send_wr wrs[MOST];

	connect_both(NULL);
	make_list(wrs, MOST);
	must(our_post(client, wrs, NULL), "our_post");
	printf("one more: %s\n", strerror(our_post_send(client, 0, SIZE)));
	take(client, 1);
	take(agent, MOST);
	make_list(wrs, MOST - 1);
	wrs[MOST - 2].send_flags = 0;
	printf("with its completion: %s\n", strerror(our_post(client, wrs, NULL)));
	printf("the last one: %s\n", strerror(our_post_send(client, 0, SIZE)));
	printf("one more: %s\n", strerror(our_post_send(client, 0, SIZE)));
	close_both();
	return 0;
}

static int post_long_list(void)
{
	struct ibv_send_wr wrs[MOST + 2], *bad = NULL;
	int ret;

	connect_both(NULL);
	make_list(wrs, MOST + 2);
	wrs[MOST - 1].send_flags = IBV_SEND_SIGNALED;
	ret = our_post(client, wrs, &bad);
	printf("%d of %d, then: %s\n", (int)(bad - wrs), MOST + 2, strerror(ret));
	printf("the list is whole: %s\n", wrs[MOST - 1].next == bad ? "yes" : "no");
	take(client, 1);
	take(agent, MOST);
	close_both();
	return 0;
}

/* The device can refuse the second request at once. */
static int post_wrong_list(void)
{
	struct ibv_send_wr wrs[3], *bad = NULL;
	int ret;

	connect_both(NULL);
	make_list(wrs, 3);
	wrs[0].send_flags = IBV_SEND_SIGNALED;
	wrs[1].num_sge = 100;
	ret = our_post(client, wrs, &bad);
	printf("%d of 3, then: %s\n", bad ? (int)(bad - wrs) : 3, strerror(ret));
	take(client, 1);
	take(agent, 1);
	close_both();
	return 0;
}

/* Each connection sends as much as it may before one completion is taken. */
static int grow_cq(void)
{
	struct our_control *clients[CROWD], *agents[CROWD], *same;
	struct our_completion completion;
	struct our_device *device;
	int i, n, n_cqs = 1;

	must(our_create_device(&config, listener->verbs, &device), "our_create_device");
	must(our_device_create_cq(device, 1), "our_device_create_cq");
	for (i = 0; i < CROWD; i++) {
		connect_both(device);
		clients[i] = client;
		agents[i] = agent;
		n_cqs += i && agent->cq != agents[i - 1]->cq;
		for (n = 0; n < MOST; n++)
			must(our_post_recv(client, (uint32_t)n), "our_post_recv");
	}
	for (i = 0; i < CROWD; i++) {
		while (our_room(agents[i]))
			must(our_post_send(agents[i], 0, SIZE), "our_post_send");
		take(clients[i], MOST);
	}
	for (n = 0; !our_device_take_completion(device, &same, &completion); n++)
		continue;
	printf("%s, %d completions, room: %u, of the client: %u, %u\n",
	       n_cqs == 1 ? "one CQ" : "several CQs", n, our_room(agents[0]), our_room(clients[0]),
	       our_receive_room(clients[0]));
	our_close_all(clients, CROWD);
	our_close_device(device);
	return 0;
}

/* ---- Requests that fail ---- */

static void open_for_reads(struct ibv_mr **mr)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;

	connect_both(NULL);
	must(our_setup_mr(agent, agent->memory.buffers[0].data, SIZE, access, mr), "our_setup_mr");
}

static void post_read(uint32_t index, const struct ibv_mr *mr, uint32_t rkey)
{
	must(our_post_read(client, index, SIZE, (uintptr_t)mr->addr, rkey), "our_post_read");
}

/* The second of three READs has a wrong key. */
static int read_by_wrong_key(void)
{
	struct our_completion completion;
	struct ibv_mr *mr;
	int i, ret;

	open_for_reads(&mr);
	for (i = 0; i < 3; i++)
		post_read((uint32_t)i, mr, mr->rkey ^ (i == 1 ? 0x5500 : 0));
	for (i = 0; i < 3; i++) {
		ret = our_await_completion(client, &completion);
		printf("%d: %s, %s\n", (int)completion.wr_id, strerror(ret),
		       completion.failure ? completion.failure : "done");
	}
	ret = our_await_completion(client, &completion);
	printf("%s, %s\n", strerror(ret), completion.failure ? completion.failure : "none");
	our_disconnect(agent);
	our_unsetup_mr(&config, mr);
	close_both();
	return 0;
}

/* ---- Keys that a peer was told ---- */

/* A new client READs by this key, and leaves. `device` is its agent's. */
static void use_key(const char *whose, struct our_device *device, const struct ibv_mr *mr)
{
	struct our_completion completion;

	connect_both(device);
	post_read(0, mr, mr->rkey);
	printf("%s: %s\n", whose, our_await_completion(client, &completion) ? "refused" : "done");
	close_both();
}

/* A key outlives the operation for which its region was opened, and the connection. */
static int keep_keys(void)
{
	static char memory[SIZE], closed[SIZE];
	struct our_device *device;
	struct ibv_mr *mr, *closed_mr, told;

	must(our_create_device(&config, listener->verbs, &device), "our_create_device");
	must(our_device_setup_mr(device, memory, SIZE, IBV_ACCESS_REMOTE_READ, &mr),
	     "our_device_setup_mr");
	must(our_device_setup_mr(device, closed, SIZE, 0, &closed_mr), "our_device_setup_mr");
	told = *mr;
	use_key("of the client", device, &told);
	use_key("of another client", device, &told);
	use_key("of another PD", NULL, &told);
	our_unsetup_mr(&config, mr);
	use_key("deregistered", device, &told);
	use_key("without the right", device, closed_mr);
	our_unsetup_mr(&config, closed_mr);
	our_close_device(device);
	return 0;
}

/* ---- Sends that do not complete ---- */

static struct timespec begun;

static void begin(void)
{
	clock_gettime(CLOCK_MONOTONIC, &begun);
}

/* Says what has ended something, and whether in the time in which stall_s ends it. */
static void say_end(int ret)
{
	struct timespec now;
	double s;

	clock_gettime(CLOCK_MONOTONIC, &now);
	s = (double)(now.tv_sec - begun.tv_sec) + (double)(now.tv_nsec - begun.tv_nsec) / 1e9;
	printf("%s%s\n", strerror(ret), s >= 4 && s < 6.1 ? ", in time" : "");
}

/* Takes what comes, as a loop does, until the connection ends. With `device`, by its CQ. */
static int take_until_end(struct our_device *device)
{
	struct our_completion completion;
	struct our_control *same;
	int ret = 0, due_ms;

	while (!ret || ret == EAGAIN) {
		ret = device ? our_device_take_completion(device, &same, &completion)
			     : our_take_completion(agent, &completion);
		if (ret != EAGAIN)
			continue;
		ret = our_look_after(agent, &due_ms);
		poll(NULL, 0, ret ? 0 : due_ms);
	}
	return ret;
}

/* Takes no completion, for longer than a send may take. */
static int take_nothing(void)
{
	int i, due_ms, ret = 0;

	must(our_post_recv(client, 0), "our_post_recv");
	must(our_post_send(agent, 0, SIZE), "our_post_send");
	for (i = 0; i < 5 && !ret; i++) {
		ret = our_look_after(agent, &due_ms);
		poll(NULL, 0, due_ms);
	}
	return ret;
}

/* The client has no receive, and says that we are to try forever. */
static int meet_no_receive(void)
{
	struct our_completion completion;
	struct our_device *device;
	int i;

	config.stall_s = 4;
	config.timeout_s = 60;
	must(our_create_device(&config, listener->verbs, &device), "our_create_device");
	must(our_device_create_cq(device, 4 * MOST), "our_device_create_cq");
	for (i = 0; i < 3; i++) {
		connect_both(i == 2 ? device : NULL);
		printf("%s: ", i == 0 ? "wait" : i == 1 ? "loop" : "shared");
		if (i)
			printf("%s, ", strerror(take_nothing()));
		begin();
		must(our_post_send(agent, 0, SIZE), "our_post_send");
		say_end(i == 0 ? our_await_completion(agent, &completion)
			       : take_until_end(i == 1 ? NULL : device));
		close_both();
	}
	our_close_device(device);
	return 0;
}

/* Connects as a loop does that has no other descriptor, and no timer. */
static int connect_in_loop(void)
{
	struct pollfd events = { .events = POLLIN };
	struct our_control *same;
	int ret;

	must(our_create_control_struct(&config, OUR_CLIENT, &client), "our_create_control_struct");
	must(our_create_id(client), "our_create_id");
	events.fd = our_cm_fd(client);
	begin();
	ret = our_start_bind(client, (struct sockaddr *)&address);
	while (!ret && !client->connected) {
		ret = our_take_cm_event(client, &same);
		if (ret == EAGAIN)
			ret = poll(&events, 1, 4000) == 1 ? 0 : ETIMEDOUT;
		else if (!ret && client->cm_event.type == RDMA_CM_EVENT_ROUTE_RESOLVED) {
			set_up(client);
			ret = our_start_connect(client, NULL, 0);
		}
	}
	our_close(client);
	say_end(ret);
	return 0;
}

/* READs from store_server, whose host is silent from then on. */
static int read_from_silent(void)
{
	struct our_completion completion;
	uint32_t where[4];

	config.stall_s = 4;
	config.timeout_s = 60;
	connect_client(NULL);
	memcpy(where, client->cm_event.private_data, sizeof(where));
	begin();
	must(our_post_read(client, 0, SIZE, (uint64_t)ntohl(where[0]) << 32 | ntohl(where[1]),
			   ntohl(where[2])),
	     "our_post_read");
	say_end(our_await_completion(client, &completion));
	our_close(client);
	return 0;
}

/* ---- Verbs of the program's own, beside the library's ---- */

static void *send_one(void *unused)
{
	be_client(unused);
	must(our_post_send(client, 0, SIZE), "our_post_send");
	return unused;
}

/* A receive by ibv_post_recv, whose completion the library hands out. */
static void post_own(struct our_control *control, uint32_t index, uint64_t wr_id)
{
	struct ibv_recv_wr wr = control->memory.buffers[index].recv_wr, *bad;

	wr.wr_id = OUR_WR_ID_RECV | wr_id;
	must(ibv_post_recv(control->qp, &wr, &bad), "ibv_post_recv");
}

static int post_by_verbs(void)
{
	struct ibv_send_wr wr, *bad;
	struct our_completion completion;
	int i;

	connect_both(NULL);
	wr = client->memory.buffers[0].send_wr;
	wr.wr_id = 1ull << 40 | 7;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED;
	must(ibv_post_send(client->qp, &wr, &bad), "ibv_post_send");
	must(our_post_send(client, 1, SIZE), "our_post_send");
	post_own(client, 2, 1ull << 40 | 8);
	must(our_post_recv(client, 3), "our_post_recv");
	for (i = 0; i < 2; i++)
		must(our_post_send(agent, 0, SIZE), "our_post_send");
	for (i = 0; i < 4; i++) {
		must(our_await_completion(client, &completion), "our_await_completion");
		printf("%s %u of %s\n", our_is_recv(completion.wr_id) ? "receive" : "send",
		       our_buffer_index(completion.wr_id),
		       completion.wr_id >> 40 & 1 ? "its own" : "the library");
	}
	close_both();
	return 0;
}

/* A silent peer's keepalive is looked for, and found among messages that nobody takes. */
static void look_after_it(void)
{
	int i, unused;

	for (i = 0; i < 6; i++) {
		usleep(1500000);
		must(our_look_after(agent, &unused), "our_look_after");
	}
}

static void send_wave(void)
{
	int i;

	for (i = 0; i < WAVE; i++)
		must(our_post_send(client, (uint32_t)i, SIZE), "our_post_send");
	take(client, WAVE);
	look_after_it();
}

/* The program makes the CQ larger, and posts receives of its own, while many completions wait in it. */
static int resize_cq(void)
{
	struct our_completion completion;
	uint32_t i, wave;

	config.keepalive_s = 1;
	most = WAVE;
	connect_both(NULL);
	send_wave();
	must(ibv_resize_cq(agent->cq, 10 * WAVE), "ibv_resize_cq");
	for (wave = 1; wave < 4; wave++) {
		for (i = 0; i < WAVE; i++)
			post_own(agent, i, wave * WAVE + i);
		send_wave();
	}
	for (i = 0; i < 4 * WAVE; i++) {
		must(our_await_completion(agent, &completion), "our_await_completion");
		if (our_buffer_index(completion.wr_id) != i)
			printf("receive %u in place of %u\n", our_buffer_index(completion.wr_id),
			       i);
	}
	close_both();
	return 0;
}

/* A shared receive queue of the program's own, for a connection that has all else from the library. */
static int have_own_pool(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = MOST, .max_sge = 1 } };
	struct our_completion completion;
	struct our_device *device;
	struct ibv_srq *pool;
	struct ibv_recv_wr *bad;
	pthread_t thread;
	uint32_t i;

	must(pthread_create(&thread, NULL, send_one, NULL), "pthread_create");
	must(our_get_request(listener, &agent), "our_get_request");
	must(our_migrate_id(agent), "our_migrate_id");
	must(our_create_device(&config, agent->verbs, &device), "our_create_device");
	must(our_use_device(agent, device), "our_use_device");
	pool = agent->srq = ibv_create_srq(device->pd, &attr);
	must(pool ? 0 : errno, "ibv_create_srq");
	set_up(agent);
	for (i = 0; i < MOST; i++)
		must(ibv_post_srq_recv(pool, &agent->memory.buffers[i].recv_wr, &bad),
		     "ibv_post_srq_recv");
	must(our_agent_connect(agent, NULL, 0), "our_agent_connect");
	must(our_await_completion(agent, &completion), "our_await_completion");
	pthread_join(thread, NULL);
	printf("receive %u\n", our_buffer_index(completion.wr_id));
	close_both();
	must(ibv_destroy_srq(pool), "ibv_destroy_srq");
	our_close_device(device);
	return 0;
}

/* ---- Beginnings and ends ---- */

/* The peer leaves after a message: whoever has seen the end, takes what came before, and is told again. */
static int take_after_end(void)
{
	struct our_completion completion;

	connect_both(NULL);
	must(our_post_recv(client, 0), "our_post_recv");
	must(our_post_send(agent, 0, SIZE), "our_post_send");
	take(agent, 1);
	our_start_disconnect(agent);
	must(our_await_disconnect(client, 0), "our_await_disconnect");
	client->wait_until_ns = UINT64_MAX;
	take(client, 1);
	printf("then: %s\n", strerror(our_await_completion(client, &completion)));
	close_both();
	return 0;
}

/* An agent that waits for its first message only. */
static int accept_and_take(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, send_one, NULL), "pthread_create");
	must(our_get_request(listener, &agent), "our_get_request");
	must(our_migrate_id(agent), "our_migrate_id");
	set_up(agent);
	must(our_post_recv(agent, 0), "our_post_recv");
	must(our_agent_accept(agent, NULL, 0), "our_agent_accept");
	take(agent, 1);
	pthread_join(thread, NULL);
	printf("connected: %d, accepted: %d\n", agent->connected, agent->accepted);
	close_both();
	return 0;
}

static int bind_also_twice(void)
{
	struct sockaddr_in other = address;
	struct our_control *second;
	int i;

	other.sin_port = htons(12322);
	must(our_create_control_struct(&config, OUR_LISTENER, &second),
	     "our_create_control_struct");
	must(our_create_id(second), "our_create_id");
	must(our_listener_bind(second, (struct sockaddr *)&other, 1), "our_listener_bind");
	for (i = 0; i < 2; i++)
		printf("also: %s\n",
		       strerror(our_listener_bind_also(second, (struct sockaddr *)&address, 1)));
	our_close(second);
	return 0;
}

/* ---- A listener that takes no more clients ---- */

static size_t say_full(struct our_control *control, int error, uint8_t *data)
{
	(void)control;
	data[0] = error == EBUSY ? 'b' : '?';
	return 1;
}

static int connected; /* the result of try_to_connect; -1: there is none yet */

static void *try_to_connect(void *unused)
{
	struct our_control *one;
	int ret;

	must(our_create_control_struct(&config, OUR_CLIENT, &one), "our_create_control_struct");
	must(our_create_id(one), "our_create_id");
	must(our_client_bind(one, (struct sockaddr *)&address), "our_client_bind");
	must(our_setup_qp(one, most, most), "our_setup_qp");
	ret = our_client_connect(one, NULL, 0);
	printf("%s: %c\n", strerror(ret),
	       one->cm_event.private_data[0] ? one->cm_event.private_data[0] : '-');
	our_close(one);
	__atomic_store_n(&connected, ret, __ATOMIC_RELEASE);
	return unused;
}

/* Takes the events of the listener and its agent until one other client was refused. */
static void refuse_one(void)
{
	struct pollfd events = { our_cm_fd(listener), POLLIN, 0 };
	struct our_control *about;
	pthread_t thread;

	connected = -1;
	must(pthread_create(&thread, NULL, try_to_connect, NULL), "pthread_create");
	while (__atomic_load_n(&connected, __ATOMIC_ACQUIRE) < 0) {
		if (our_take_cm_event(listener, &about) == EAGAIN)
			poll(&events, 1, 100);
		else if (about != agent || about->cm_event.type != RDMA_CM_EVENT_ESTABLISHED)
			printf("event %s\n", rdma_event_str(about->cm_event.type));
	}
	pthread_join(thread, NULL);
}

static void await_end_of_client(void)
{
	struct pollfd events = { our_cm_fd(listener), POLLIN, 0 };
	struct our_control *about;

	while (our_take_cm_event(listener, &about) == EAGAIN)
		poll(&events, 1, 5000);
	printf("of the agent: %d, %s\n", about == agent, rdma_event_str(about->cm_event.type));
}

static void exchange(void)
{
	must(our_post_send(client, 0, SIZE), "our_post_send");
	take(client, 1);
	take(agent, 1);
}

static int take_no_more(void)
{
	struct our_control *first = listener;

	config.refuse = say_full;
	stays = true;
	connect_both(NULL);
	our_refuse_requests(listener, EBUSY);
	refuse_one();
	exchange();
	our_stop_listening(listener);
	refuse_one();
	exchange();
	our_start_disconnect(client);
	await_end_of_client();
	listen_for_it(); /* another listener, at the same address */
	close_both();
	our_close(first);
	return 0;
}

/* The test has the device removed at ibv_query_device. */
static int get_after_removal(void)
{
	struct ibv_device_attr attr;
	int i, ret;

	ibv_query_device(listener->verbs, &attr);
	for (i = 0; i < 2; i++) {
		ret = our_get_request(listener, &agent);
		printf("%s, agent: %d\n", strerror(ret), !!agent);
	}
	return 0;
}

static void *be_refused(void *unused)
{
	must(our_create_control_struct(&config, OUR_CLIENT, &client), "our_create_control_struct");
	must(our_create_id(client), "our_create_id");
	must(our_client_bind(client, (struct sockaddr *)&address), "our_client_bind");
	set_up(client);
	printf("client: %s\n", our_client_connect(client, NULL, 0) ? "refused" : "connected");
	our_close(client);
	return unused;
}

/* The test has rdma_migrate_id fail. */
static int reject_without_channel(void)
{
	pthread_t thread;
	int ret;

	must(pthread_create(&thread, NULL, be_refused, NULL), "pthread_create");
	must(our_get_request(listener, &agent), "our_get_request");
	ret = our_migrate_id(agent);
	our_agent_reject(agent, ret);
	our_close(agent);
	pthread_join(thread, NULL);
	return 0;
}

/* ---- Shared receive queues ---- */

/* The queue of `owner` is to say when it is low, and two messages to an agent of `part` make it so. */
static void lower(struct our_device *owner, struct our_device *part)
{
	struct ibv_srq_attr limit = { .srq_limit = LIMIT };
	int i;

	must(ibv_modify_srq(owner->srq, &limit, IBV_SRQ_LIMIT), "ibv_modify_srq");
	connect_both(part);
	printf("low: %d\n", our_device_srq_was_low(part));
	for (i = 0; i < 2; i++)
		must(our_post_send(client, 0, SIZE), "our_post_send");
	take(agent, 2);
	must(our_device_take_async_events(owner), "our_device_take_async_events");
	printf("low: %d, of the whole: ", our_device_srq_was_low(part));
}

/* A part makes a queue of its own, and is told when it is low. */
static int have_own_queue(void)
{
	struct our_device *whole, *part;

	must(our_create_device(&config, listener->verbs, &whole), "our_create_device");
	must(our_join_device(&config, whole, &part), "our_join_device");
	must(our_device_create_srq(part, MOST, SIZE), "our_device_create_srq");
	lower(part, part);
	printf("%d\n", our_device_srq_was_low(whole));
	printf("another queue: %s\n", strerror(our_device_create_srq(part, MOST, SIZE)));
	close_both();
	our_close_device(part);
	our_close_device(whole);
	return 0;
}

/* A part has the queue of the whole: it is told that this is low, and then the whole is not. */
static int have_queue_of_whole(void)
{
	struct our_device *whole, *part;

	must(our_create_device(&config, listener->verbs, &whole), "our_create_device");
	must(our_device_create_srq(whole, MOST, SIZE), "our_device_create_srq");
	must(our_join_device(&config, whole, &part), "our_join_device");
	lower(whole, part);
	printf("%d\n", our_device_srq_was_low(whole));
	close_both();
	our_close_device(part);
	our_close_device(whole);
	return 0;
}

/* Takes the completion of a receive, and keeps the buffer. */
static void take_buffer(struct our_device *device, uint32_t index)
{
	struct our_completion completion;
	struct our_control *other;
	int ret;

	do
		ret = our_device_take_completion(device, &other, &completion);
	while (ret == EAGAIN);
	must(ret, "our_device_take_completion");
	if (our_buffer_index(completion.wr_id) != index)
		printf("buffer %u\n", our_buffer_index(completion.wr_id));
}

/*
 * A receive into memory of the program's own, whose wr_id differs from a buffer's in the upper half: nobody
 * takes its completion.
 */
static int post_own_receive(void)
{
	struct our_device *device;
	struct ibv_sge sge;
	struct ibv_recv_wr *bad, wr = {
		.wr_id = OUR_WR_ID_RECV | 1ull << 40 | 1,
		.sg_list = &sge,
		.num_sge = 1,
	};
	uint32_t i;

	must(our_create_device(&config, listener->verbs, &device), "our_create_device");
	must(our_device_create_cq(device, 4 * MOST), "our_device_create_cq");
	must(our_device_create_srq(device, 2, SIZE), "our_device_create_srq");
	connect_both(device);
	for (i = 0; i < 2; i++) {
		must(our_post_send(client, 0, SIZE), "our_post_send");
		take_buffer(device, i);
	}
	sge = (struct ibv_sge){ (uintptr_t)agent->memory.buffers[0].data, SIZE,
				agent->memory.mr->lkey };
	must(ibv_post_srq_recv(device->srq, &wr, &bad), "ibv_post_srq_recv");
	must(our_post_send(client, 0, SIZE), "our_post_send");
	take(client, 3);
	close_both();
	for (i = 0; i < 2; i++)
		must(our_device_post_recv(device, i), "our_device_post_recv");
	our_close_device(device);
	return 0;
}

/* A connection of the device with receives of its own, whose indices are those of buffers of the queue. */
static int have_own_receives(void)
{
	struct our_device *device;
	pthread_t thread;
	uint32_t i;

	must(our_create_device(&config, listener->verbs, &device), "our_create_device");
	must(our_device_create_cq(device, 4 * MOST), "our_device_create_cq");
	must(our_device_create_srq(device, MOST, SIZE), "our_device_create_srq");
	must(pthread_create(&thread, NULL, be_client, NULL), "pthread_create");
	must(our_get_request(listener, &agent), "our_get_request");
	must(our_migrate_id(agent), "our_migrate_id");
	must(our_use_device(agent, device), "our_use_device");
	agent->srq = NULL;
	set_up(agent);
	for (i = 0; i < MOST; i++)
		must(our_post_recv(agent, i), "our_post_recv");
	must(our_agent_connect(agent, NULL, 0), "our_agent_connect");
	pthread_join(thread, NULL);
	close_both();
	our_close_device(device);
	return 0;
}

/* The device closes a connection that its user has disconnected, and no more. */
static int leave_to_device(void)
{
	struct our_device *device;

	must(our_create_device(&config, listener->verbs, &device), "our_create_device");
	must(our_device_create_cq(device, 4 * MOST), "our_device_create_cq");
	must(our_device_create_srq(device, MOST, SIZE), "our_device_create_srq");
	connect_both(device);
	our_disconnect(agent);
	our_close_device(device);
	our_close(client);
	return 0;
}

/* QPs with one CQ for all, until the device has no more. */
static int make_many(void)
{
	struct our_device *device;
	int n = 0, ret;

	must(our_create_device(&config, listener->verbs, &device), "our_create_device");
	must(our_device_create_cq(device, MANY * 2 * DEPTH), "our_device_create_cq");
	do {
		must(our_create_control_struct(&config, OUR_CLIENT, &client),
		     "our_create_control_struct");
		must(our_create_id(client), "our_create_id");
		must(our_client_bind(client, (struct sockaddr *)&address), "our_client_bind");
		must(our_use_device(client, device), "our_use_device");
		ret = our_setup_qp(client, DEPTH - 1, DEPTH);
		n += !ret;
	} while (!ret && n < MANY);
	our_close(client);
	our_close_device(device); /* closes the other connections, too */
	printf("%s QPs, then: %s\n", n > 0 && n < MANY ? "some" : "all or no", strerror(ret));
	fprintf(stderr, "library: %d QPs\n", n);
	return 0;
}

/* Clients of a server that are killed in the midst of a long message, one after the other. */
static int be_killed(void)
{
	int i, status;
	pid_t pid;

	size = LONG;
	for (i = 0; i < KILLED; i++) {
		pid = fork();
		if (!pid) {
			be_client(NULL);
			must(our_post_send(client, 0, LONG), "our_post_send");
			usleep(3); /* the simulated device is now in the midst of the message */
			raise(SIGKILL);
		}
		waitpid(pid, &status, 0);
		if (!WIFSIGNALED(status))
			printf("one was not killed\n");
	}
	return 0;
}

/* Connections of a server whose host is silent from its first answer on. */
static int close_all(void)
{
	struct our_control *first = connect_client(NULL), *all[ALL];
	struct our_device *device;
	time_t begin, one, three;
	int i;

	for (i = 0; i < ALL; i++)
		all[i] = connect_client(NULL);
	must(our_create_device(&config, first->verbs, &device), "our_create_device");
	for (i = 0; i < ALL; i++)
		connect_client(device);
	must(our_post_send(first, 0, SIZE), "our_post_send");
	usleep(100000); /* longer than an answer takes */
	begin = time(NULL);
	our_close(first);
	one = time(NULL);
	our_close_all(all, ALL);
	three = time(NULL);
	our_close_device(device);
	printf("%d s, %d s, %d s\n", (int)(one - begin), (int)(three - one),
	       (int)(time(NULL) - three));
	return 0;
}

/* ---- Connections that are made anew ---- */

static int post_and_connect(struct our_control *control)
{
	must(our_post_recv(control, 0), "our_post_recv");
	return our_client_connect(control, NULL, 0);
}

/* Takes the completions of a message and its answer. Returns an errno value if the connection broke. */
static int take_both(struct our_device *device, const struct our_control *control)
{
	struct our_completion completion;
	struct our_control *about;
	int n = 0, ret = 0;

	while (n < 2 && !ret) {
		ret = our_device_take_completion(device, &about, &completion);
		if (ret == EAGAIN)
			ret = usleep(100);
		else if (about != control)
			ret = EPROTO;
		else
			n += !ret;
	}
	return ret;
}

/* The test has the second send fail. Completions of another connection wait during our_reconnect. */
static int reconnect_shared(void)
{
	static char text[SIZE];
	struct our_reconnect how = {
		.server = (struct sockaddr *)&address,
		.connect = post_and_connect,
	};
	struct our_control *first, *second;
	struct our_device *device;
	struct ibv_mr *mr;
	int i, ret;

	must(our_create_control_struct(&config, OUR_CLIENT, &first), "our_create_control_struct");
	must(our_create_id(first), "our_create_id");
	must(our_client_bind(first, how.server), "our_client_bind");
	must(our_create_device(&config, first->verbs, &device), "our_create_device");
	must(our_device_create_cq(device, 8 * MOST), "our_device_create_cq");
	must(our_device_setup_mr(device, text, SIZE, 0, &mr), "our_device_setup_mr");
	must(our_use_device(first, device), "our_use_device");
	set_up(first);
	must(post_and_connect(first), "our_client_connect");
	second = connect_client(device);
	must(our_post_recv(second, 0), "our_post_recv");
	for (i = 0; i < 3; i++) {
		ret = our_post_send_from(first, text, SIZE, mr, 0);
		if (!ret)
			ret = take_both(device, first);
		printf("%s\n", ret ? "broke" : "answered");
		if (!ret) {
			must(our_post_recv(first, 0), "our_post_recv");
			continue;
		}
		our_post_send(second, 0, SIZE); /* fails if the device was removed */
		usleep(100000);
		ret = our_reconnect(first, &how, ret);
		printf("again: %s\n", strerror(ret));
		if (ret)
			goto out_close;
		printf("the other: %s\n", strerror(take_both(device, second)));
	}
	address.sin_addr.s_addr = inet_addr("192.0.2.2");
	printf("elsewhere: %s\n", strerror(our_reconnect(first, &how, ETIMEDOUT)));
out_close:
	our_close(first);
	our_close(second);
	our_unsetup_mr(&config, mr);
	our_close_device(device);
	return 0;
}

/* The lowest descriptor that is free. */
static int free_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/* Each connection ends with completions that nobody has taken, and with a receive that is posted. */
static int reconnect_often(void)
{
	struct our_reconnect how = {
		.server = (struct sockaddr *)&address,
		.connect = post_and_connect,
	};
	struct our_completion completion;
	int before, i, n;

	connect_client(NULL);
	must(our_post_recv(client, 0), "our_post_recv");
	before = free_fd();
	for (i = 0; i < 300; i++) {
		must(our_post_recv(client, 1), "our_post_recv");
		must(our_post_recv(client, 2), "our_post_recv");
		for (n = 0; n < 2; n++)
			must(our_post_send(client, 3, SIZE), "our_post_send");
		usleep(100);
		take(client, 1);
		must(our_reconnect(client, &how, ECONNABORTED), "our_reconnect");
		if (our_room(client) != MOST || our_receive_room(client) != MOST - 1)
			printf("%d: room %u, %u\n", i, our_room(client), our_receive_room(client));
		if (our_take_completion(client, &completion) != EAGAIN)
			printf("%d: an old completion\n", i);
	}
	printf("descriptors: %d more\n", free_fd() - before);
	our_close(client);
	return 0;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A turn of an event loop: the next step of the connection, or the next completion. */
static int turn(bool *sent, unsigned int *answers)
{
	struct our_completion completion;
	struct our_control *about;
	int ret = our_take_cm_event(client, &about);

	if (!ret && client->cm_event.type == RDMA_CM_EVENT_ROUTE_RESOLVED) {
		set_up(client);
		must(our_post_recv(client, 0), "our_post_recv");
		return our_start_connect(client, NULL, 0);
	}
	if (ret == EAGAIN && client->connected && !*sent) {
		*sent = true;
		return our_post_send(client, 0, SIZE);
	}
	if (ret == EAGAIN && client->connected) {
		ret = our_take_completion(client, &completion);
		*answers += !ret && our_is_recv(completion.wr_id);
	}
	return ret ? ret : client->ended;
}

/* Each connection is for one answer. The test kills the server. The loop alone sleeps. */
static int reconnect_by_loop(void)
{
	struct our_reconnect pauses = { .failed = 0 };
	unsigned int before, pause_ms, answers = 0;
	uint64_t slept_ms = 0, begin_ms = now_ms();
	bool sent;
	int ret;

	while (answers < MOST) {
		must(our_create_control_struct(&config, OUR_CLIENT, &client), "a client");
		ret = our_create_id(client);
		if (!ret)
			ret = our_start_bind(client, (struct sockaddr *)&address);
		before = answers;
		sent = false;
		while ((!ret || ret == EAGAIN) && answers == before) {
			ret = turn(&sent, &answers);
			slept_ms += poll(NULL, 0, 1) + 1;
		}
		if (ret && ret != EAGAIN && !our_may_pass(client, ret))
			must(ret, "it may not pass");
		pauses.failed = client->accepted ? 0 : pauses.failed + 1;
		our_start_disconnect(client);
		our_close(client);
		pause_ms = our_pause_ms(&pauses);
		slept_ms += (uint64_t)poll(NULL, 0, (int)pause_ms) + pause_ms;
	}
	printf("slept elsewhere: %s\n", now_ms() - begin_ms > slept_ms + 100 ? "yes" : "no");
	return 0;
}

/* The device makes an event for each completion. */
static int moderate(void)
{
	config.event_completions = 2;
	connect_both(NULL);
	return 0;
}

/* ---- Each function once ---- */

static void say(const char *what, int ret)
{
	printf("%s: %s\n", what, strerror(ret));
}

/* A message of the client, and the answer from the buffer that it came in. */
static void echo(struct our_device *device)
{
	struct our_completion completion;
	struct our_control *about;
	int i, ret;

	must(our_post_recv(client, 0), "our_post_recv");
	must(our_post_send(client, 1, SIZE), "our_post_send");
	for (i = 0; i < 2; i++) {
		ret = our_await_completion(client, &completion);
		if (ret) {
			say("our_await_completion", ret);
			must(our_report_end(client, ret), "our_report_end");
		}
		do
			ret = i ? 0 : our_device_take_completion(device, &about, &completion);
		while (ret == EAGAIN);
		must(ret, "our_device_take_completion");
		if (!i)
			must(our_device_post_send(device, about, our_buffer_index(completion.wr_id),
						  SIZE),
			     "our_device_post_send");
	}
}

/* Nothing has come, or the time is over: these are no errors. */
static void find_nothing(struct our_device *device)
{
	struct our_completion completion;
	struct our_control *about;

	say("our_take_cm_event", our_take_cm_event(client, &about));
	say("our_take_completion", our_take_completion(client, &completion));
	say("our_device_take_completion", our_device_take_completion(device, &about, &completion));
	client->wait_until_ns = 1;
	say("our_await_completion", our_await_completion(client, &completion));
	client->wait_until_ns = UINT64_MAX;
	say("our_await_disconnect", our_await_disconnect(client, 1));
}

/* The last that a client does: there is no time for an attempt, and then a stop is requested. */
static void give_up(void)
{
	struct our_reconnect how = {
		.server = (struct sockaddr *)&address,
		.first_ms = UINT32_MAX,
		.most_ms = UINT32_MAX,
		.limit_s = 1,
	};
	struct rlimit before, none;
	struct our_poll_group *group;

	say("our_reconnect", our_reconnect(client, &how, ECONNABORTED));
	our_stop_request(config.stop);
	say("our_reconnect", our_reconnect(client, &how, ECONNABORTED));
	our_close(client);
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	say("our_create_poll_group", our_create_poll_group(&config, &group));
	setrlimit(RLIMIT_NOFILE, &before);
}

/* The test has one of them fail. */
static int call_each(void)
{
	struct our_device *device, *part;
	struct our_poll_group *group;
	struct ibv_mr *mr;
	uint8_t depth;
	int i, due_ms;

	config.ack_timeout = 14;
	config.keepalive_s = 1;
	must(our_create_poll_group(&config, &group), "our_create_poll_group");
	our_close_poll_group(group);
	must(our_create_device(&config, listener->verbs, &device), "our_create_device");
	must(our_device_create_cq(device, MOST), "our_device_create_cq");
	must(our_device_create_srq(device, MOST, SIZE), "our_device_create_srq");
	must(our_join_device(&config, device, &part), "our_join_device");
	connect_both(device);
	must(our_read_depth(client, &depth), "our_read_depth");
	must(our_take_async_events(client), "our_take_async_events");
	must(our_open_buffer(client, 0, IBV_ACCESS_REMOTE_READ, &mr), "our_setup_mr");
	must(our_device_take_async_events(device), "our_device_take_async_events");
	our_unsetup_mr(&config, mr);
	find_nothing(device);
	echo(device);
	for (i = 0; i < 20; i++) { /* longer than a keepalive may take on iWARP */
		usleep(1500000);
		must(our_look_after(client, &due_ms), "our_look_after");
	}
	give_up();
	our_close_device(part);
	our_close_device(device); /* closes the agent, too */
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} questions[] = {
	{ "each", call_each },
	{ "moderate", moderate },
	{ "most-private", tell_most },
	{ "sends", post_sends },
	{ "receives", post_receives },
	{ "unsignaled", post_unsignaled },
	{ "long-list", post_long_list },
	{ "wrong-list", post_wrong_list },
	{ "grow-cq", grow_cq },
	{ "wrong-key", read_by_wrong_key },
	{ "keys", keep_keys },
	{ "no-receive", meet_no_receive },
	{ "read-from-silent", read_from_silent },
	{ "connect-in-loop", connect_in_loop },
	{ "by-verbs", post_by_verbs },
	{ "resize-cq", resize_cq },
	{ "own-pool", have_own_pool },
	{ "take-after-end", take_after_end },
	{ "accept-and-take", accept_and_take },
	{ "bind-also-twice", bind_also_twice },
	{ "take-no-more", take_no_more },
	{ "get-after-removal", get_after_removal },
	{ "reject-without-channel", reject_without_channel },
	{ "own-receives", have_own_receives },
	{ "own-queue", have_own_queue },
	{ "queue-of-whole", have_queue_of_whole },
	{ "own-receive", post_own_receive },
	{ "left-to-device", leave_to_device },
	{ "many", make_many },
	{ "be-killed", be_killed },
	{ "close-all", close_all },
	{ "reconnect-often", reconnect_often },
	{ "reconnect-shared", reconnect_shared },
	{ "reconnect-by-loop", reconnect_by_loop },
};

/* Returns true if the question is asked as a client of another program, which listens. */
static bool is_client_only(int (*run)(void))
{
	return run == be_killed || run == close_all || run == read_from_silent ||
	       run == reconnect_shared || run == reconnect_by_loop || run == connect_in_loop ||
	       run == reconnect_often;
}

static void on_signal(int signal_number)
{
	(void)signal_number;
	our_stop_request(config.stop);
}

int main(int argc, char **argv)
{
	int ret = 2;
	size_t i;

	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	must(our_create_stop(&config.stop), "our_create_stop");
	signal(SIGTERM, on_signal);
	address.sin_port = htons(12321);
	inet_pton(AF_INET, argc > 2 ? argv[2] : "192.0.2.1", &address.sin_addr);
	for (i = 0; argc > 1 && i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (strcmp(questions[i].name, argv[1]))
			continue;
		if (!is_client_only(questions[i].run))
			listen_for_it();
		ret = questions[i].run();
		our_close(listener);
	}
	our_destroy_stop(config.stop);
	return ret;
}
