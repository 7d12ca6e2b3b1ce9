/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One process on two devices at the same time: a server with an event loop on the first address, one
 * with a thread for each client on the second, and at each two clients, of which one polls and one
 * sleeps. For tests/examples; of the project it takes our_control.h only.
 *
 *     together ADDRESS ADDRESS
 *
 * Exit status: 0, and a line on stdout, if every message came back to its client.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "our_control.h"

#define N_BUFFERS 2
#define SIZE      1000
#define SHORT     8 /* goes inline; with messages of both lengths a buffer is posted both ways */
#define MESSAGES  500
#define CLIENTS   2 /* of a server */
#define SERVERS   2
#define LIMIT_S   20

enum {
	RECEIVED,
	SENT
};

static pthread_barrier_t listening, connected; /* all servers; all clients */

static void report(void *context, const struct our_error *error)
{
	char text[600];

	fprintf(stderr, "%s: %s\n", (const char *)context,
		our_error_text(error, text, sizeof(text)));
}

static struct our_config config_of(const char *name, const struct our_completion_ops *completions)
{
	return (struct our_config){
		.waiting = { .cm = &our_cm_nonblocking, .completions = completions },
		.report = report,
		.context = (void *)(uintptr_t)name,
		.timeout_s = LIMIT_S,
	};
}

/* ---- What both servers do ---- */

struct server {
	struct sockaddr *address;
	struct our_control *listener;
	struct our_control *agents[CLIENTS];
	int ret;
};

static int listen_at(struct server *server, const struct our_config *config)
{
	int ret = our_create_control_struct(config, OUR_LISTENER, &server->listener);

	if (!ret)
		ret = our_create_id(server->listener);
	if (!ret)
		ret = our_listener_bind(server->listener, server->address, 16);
	pthread_barrier_wait(&listening);
	return ret;
}

static int setup(struct our_control *control)
{
	int ret = our_setup_qp(control, N_BUFFERS, N_BUFFERS);

	if (!ret)
		ret = our_setup_buffers(control, N_BUFFERS, SIZE, IBV_ACCESS_LOCAL_WRITE);
	return ret ? ret : our_post_recv(control, RECEIVED);
}

static int send_back(struct our_control *agent, const struct our_completion *completion)
{
	uint32_t buffer = our_buffer_index(completion->wr_id);
	int ret;

	if (!our_is_recv(completion->wr_id))
		return 0;
	ret = our_post_recv(agent, !buffer); /* before the client can send again */
	return ret ? ret : our_post_send(agent, buffer, completion->byte_len);
}

/* ---- A thread for each client ---- */

static void *serve_one(void *argument)
{
	struct our_control *agent = argument;
	struct our_completion completion;
	int ret = our_migrate_id(agent);

	if (!ret)
		ret = setup(agent);
	if (!ret)
		ret = our_agent_connect(agent, NULL, 0);
	while (!ret) {
		ret = our_await_completion(agent, &completion);
		if (!ret)
			ret = send_back(agent, &completion);
	}
	ret = our_report_end(agent, ret);
	our_close(agent);
	return (void *)(intptr_t)(ret == ECONNRESET ? 0 : ret);
}

static void *serve_in_threads(void *argument)
{
	struct our_config config = config_of("server with threads", &our_busy_polling);
	struct server *server = argument;
	pthread_t threads[CLIENTS];
	void *result;
	int i, ret = listen_at(server, &config), started = 0;

	while (!ret && started < CLIENTS) {
		ret = our_get_request(server->listener, &server->agents[started]);
		if (!ret)
			ret = pthread_create(&threads[started], NULL, serve_one,
					     server->agents[started]);
		started += !ret;
	}
	for (i = 0; i < started; i++) {
		pthread_join(threads[i], &result);
		ret = ret ? ret : (int)(intptr_t)result;
	}
	our_close(server->listener);
	server->ret = ret;
	return NULL;
}

/* ---- One loop for all ---- */

/* Takes what there is of one client. Returns EAGAIN if it is still there, else how it has ended. */
static int drain(struct our_control *agent)
{
	struct our_completion completion;
	int ret = 0;

	while (!ret) {
		ret = our_take_completion(agent, &completion);
		if (!ret)
			ret = send_back(agent, &completion);
	}
	return ret;
}

static int take_request(struct server *server, int *started)
{
	struct our_control *about;
	int ret = our_take_cm_event(server->listener, &about);

	if (ret || about->cm_event.type != RDMA_CM_EVENT_CONNECT_REQUEST)
		return ret == EAGAIN ? 0 : ret;
	ret = our_create_agent(server->listener, &about);
	if (!ret)
		ret = setup(about);
	if (!ret)
		ret = our_agent_accept(about, NULL, 0);
	server->agents[(*started)++] = about;
	return ret;
}

static int loop(struct server *server)
{
	struct pollfd fds[1 + CLIENTS];
	int started = 0, left = CLIENTS, i, ret = 0;

	while (!ret && left) {
		fds[0] = (struct pollfd){ our_cm_fd(server->listener), POLLIN, 0 };
		for (i = 0; i < CLIENTS; i++)
			fds[1 + i] = (struct pollfd){ server->agents[i]
							      ? our_completion_fd(server->agents[i])
							      : -1,
						      POLLIN, 0 };
		if (poll(fds, 1 + CLIENTS, LIMIT_S * 1000) <= 0)
			return ETIMEDOUT;
		ret = take_request(server, &started);
		for (i = 0; !ret && i < CLIENTS; i++) {
			if (!server->agents[i] ||
			    (drain(server->agents[i]) == EAGAIN && !server->agents[i]->ended))
				continue;
			our_close(server->agents[i]);
			server->agents[i] = NULL;
			left--;
		}
	}
	return ret;
}

static void *serve_in_a_loop(void *argument)
{
	struct our_config config = config_of("server with a loop", &our_nonblocking_channel);
	struct server *server = argument;
	int i, ret = listen_at(server, &config);

	server->ret = ret ? ret : loop(server);
	for (i = 0; i < CLIENTS; i++)
		our_close(server->agents[i]);
	our_close(server->listener);
	return NULL;
}

/* ---- The clients ---- */

struct client {
	struct sockaddr *address;
	const struct our_completion_ops *completions;
	int number, ret;
};

static int ping(struct our_control *client, uint32_t length)
{
	bool sent = false, received = false;
	struct our_completion completion;
	int ret = our_post_send(client, SENT, length);

	while (!ret && (!sent || !received)) {
		ret = our_await_completion(client, &completion);
		if (!ret && our_is_recv(completion.wr_id))
			received = true;
		else
			sent = true;
	}
	if (!ret && memcmp(client->memory.buffers[RECEIVED].data, client->memory.buffers[SENT].data,
			   length))
		ret = EBADMSG;
	return ret ? ret : our_post_recv(client, RECEIVED);
}

static void *run_client(void *argument)
{
	struct client *mine = argument;
	struct our_config config = config_of("client", mine->completions);
	struct our_control *client = NULL;
	int i, ret;

	pthread_barrier_wait(&listening);
	ret = our_create_control_struct(&config, OUR_CLIENT, &client);
	if (!ret)
		ret = our_create_id(client);
	if (!ret)
		ret = our_client_bind(client, mine->address);
	if (!ret)
		ret = setup(client);
	if (!ret)
		ret = our_client_connect(client, NULL, 0);
	pthread_barrier_wait(&connected);
	for (i = 0; !ret && i < MESSAGES; i++) {
		memset(client->memory.buffers[SENT].data, i * 7 + mine->number, SIZE);
		ret = ping(client, i % 3 ? SIZE : SHORT);
	}
	our_close(client);
	mine->ret = ret;
	return NULL;
}

static int look_up(const char *address, const char *port, struct sockaddr_storage *copy)
{
	struct addrinfo *found;
	int ret = getaddrinfo(address, port, NULL, &found);

	if (ret) {
		fprintf(stderr, "together: %s: %s\n", address, gai_strerror(ret));
		return ret;
	}
	memcpy(copy, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

int main(int argc, char **argv)
{
	static void *(*const serve[SERVERS])(void *) = { serve_in_a_loop, serve_in_threads };
	static const char *const ports[SERVERS] = { "14001", "14002" };
	struct sockaddr_storage addresses[SERVERS];
	struct server servers[SERVERS] = { { 0 } };
	struct client clients[SERVERS * CLIENTS];
	pthread_t threads[SERVERS + SERVERS * CLIENTS];
	int i, failed = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: together ADDRESS ADDRESS\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	for (i = 0; i < SERVERS; i++) {
		if (look_up(argv[1 + i], ports[i], &addresses[i]))
			return 2;
		servers[i].address = (struct sockaddr *)&addresses[i];
	}
	pthread_barrier_init(&listening, NULL, SERVERS + SERVERS * CLIENTS);
	pthread_barrier_init(&connected, NULL, SERVERS * CLIENTS);
	for (i = 0; i < SERVERS; i++)
		pthread_create(&threads[i], NULL, serve[i], &servers[i]);
	for (i = 0; i < SERVERS * CLIENTS; i++) {
		clients[i] =
			(struct client){ servers[i % SERVERS].address,
					 i / SERVERS ? &our_busy_polling : &our_nonblocking_channel,
					 i, 0 };
		pthread_create(&threads[SERVERS + i], NULL, run_client, &clients[i]);
	}
	for (i = 0; i < SERVERS + SERVERS * CLIENTS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < SERVERS; i++)
		failed |= servers[i].ret;
	for (i = 0; i < SERVERS * CLIENTS; i++)
		failed |= clients[i].ret;
	if (!failed)
		printf("%d clients, %d messages each\n", SERVERS * CLIENTS, MESSAGES);
	return !!failed;
}
