/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Clients of the workers of parts.c. Contract: each checks every message that comes back.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "parts.h"

#define TRIES 50 /* attempts to wake a wait */

int bind_client(const struct our_config *its, struct our_stop *stop, struct sockaddr *server,
		struct our_control **client)
{
	int ret = our_create_control_struct(its, OUR_CLIENT, client);

	if (ret)
		return ret;
	(*client)->stop = stop;
	ret = our_create_id(*client);
	return ret ? ret : our_client_bind(*client, server);
}

static int connect_client(struct our_control *client)
{
	int ret = our_setup_qp(client, 1, 1);

	if (!ret)
		ret = our_setup_buffers(client, N_BUFFERS, SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!ret)
		ret = our_post_recv(client, RECEIVED);
	return ret ? ret : our_client_connect(client, NULL, 0);
}

static uint32_t length_of(int number)
{
	return number % 3 ? SIZE : SHORT;
}

static int say(struct our_control *client, int number)
{
	memset(client->memory.buffers[SENT].data, number, SIZE);
	memcpy(client->memory.buffers[SENT].data, &number, sizeof(number));
	return our_post_send(client, SENT, length_of(number));
}

static int hear(struct our_control *client, int number)
{
	const struct our_buffer *buffers = client->memory.buffers;
	bool sent = client->send_cq, received = false;
	struct our_completion completion;
	int ret = 0;

	while (!ret && !(sent && received)) {
		ret = our_report_end(client, our_await_completion(client, &completion));
		if (ret)
			return ret;
		if (!our_is_recv(completion.wr_id))
			sent = true;
		else
			ret = expect(completion.byte_len == length_of(number),
				     "length of an answer");
		received |= our_is_recv(completion.wr_id);
	}
	if (!ret)
		ret = expect(!memcmp(buffers[RECEIVED].data, buffers[SENT].data, length_of(number)),
			     "an answer is the message");
	return ret ? ret : our_post_recv(client, RECEIVED);
}

void *run_many(void *address)
{
	struct our_control *clients[CLIENTS] = { NULL };
	int i, number, ret = 0;

	for (i = 0; !ret && i < CLIENTS; i++) {
		ret = bind_client(&config, NULL, address, &clients[i]);
		if (!ret)
			ret = connect_client(clients[i]);
	}
	for (number = 0; !ret && number < MESSAGES; number++) {
		for (i = 0; !ret && i < CLIENTS; i++)
			ret = say(clients[i], number * CLIENTS + i);
		for (i = 0; !ret && i < CLIENTS; i++)
			ret = hear(clients[i], number * CLIENTS + i);
	}
	our_close_all(clients, CLIENTS);
	return (void *)(intptr_t)ret;
}

/* ---- A wait that another thread ends ---- */

struct waking {
	struct our_stop *stop;
	sem_t waits; /* posted when a wait begins */
};

static void *wake(void *argument)
{
	struct waking *waking = argument;
	int i;

	for (i = 0; i < TRIES; i++) {
		sem_wait(&waking->waits);
		our_stop_request(waking->stop);
	}
	return NULL;
}

/* Nothing is under way, so only the other thread can end the wait. */
static int be_woken(struct our_control *client, struct waking *waking, int number)
{
	struct our_completion completion;
	int ret;

	sem_post(&waking->waits);
	ret = expect(our_await_completion(client, &completion) == EINTR, "a request ends a wait");
	our_clear_stop(waking->stop);
	if (!ret)
		ret = say(client, number);
	return ret ? ret : hear(client, number);
}

void *run_woken(void *address)
{
	struct our_control *client = NULL;
	struct waking waking;
	pthread_t thread;
	int i = 0, ret = our_create_stop(&waking.stop);

	if (ret)
		return (void *)(intptr_t)ret;
	sem_init(&waking.waits, 0, 0);
	pthread_create(&thread, NULL, wake, &waking);
	ret = bind_client(&config, waking.stop, address, &client);
	if (!ret)
		ret = connect_client(client);
	for (; !ret && i < TRIES; i++)
		ret = be_woken(client, &waking, i);
	for (; i < TRIES; i++)
		sem_post(&waking.waits);
	pthread_join(thread, NULL);
	our_close(client);
	our_destroy_stop(waking.stop);
	return (void *)(intptr_t)ret;
}

/* ---- Sends that complete to a CQ of the program's own ---- */

static int exchange_apart(struct our_control *client, int number)
{
	struct ibv_wc wc;
	int n = 0, ret = say(client, number);

	if (!ret)
		ret = hear(client, number);
	while (!ret && !n)
		n = ibv_poll_cq(client->send_cq, 1, &wc);
	return ret ? ret : expect(n == 1 && !wc.status && wc.wr_id == SENT, "a send completed");
}

void *run_apart(void *address)
{
	struct our_control *client;
	struct ibv_cq *cq = NULL;
	int i, ret = bind_client(&config, NULL, address, &client);

	if (!ret) {
		cq = client->send_cq = ibv_create_cq(client->verbs, 1, NULL, NULL, 0);
		client->comp_vector = client->verbs->num_comp_vectors - 1;
		ret = cq ? connect_client(client) : errno;
	}
	for (i = 0; !ret && i < MESSAGES; i++)
		ret = exchange_apart(client, i);
	if (!ret)
		ret = expect(!our_take_async_events(client), "no asynchronous event");
	our_close(client);
	if (cq && !ret)
		ret = ibv_destroy_cq(cq);
	return (void *)(intptr_t)ret;
}
