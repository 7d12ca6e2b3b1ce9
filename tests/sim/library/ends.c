/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * library: beginnings and ends of a connection, and a listener that takes no more clients.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "library.h"

/* ---- Beginnings and ends ---- */

/* The peer leaves after a message: whoever has seen the end, takes what came before, and is told again. */
int take_after_end(void)
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
int accept_and_take(void)
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

int bind_also_twice(void)
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

/* The largest ack timeout, and one more. */
int ask_for_timeouts(void)
{
	for (config.ack_timeout = 31; config.ack_timeout <= 32; config.ack_timeout++) {
		must(our_create_control_struct(&config, OUR_CLIENT, &client),
		     "our_create_control_struct");
		must(our_create_id(client), "our_create_id");
		printf("%u: %s\n", config.ack_timeout,
		       strerror(our_client_bind(client, (struct sockaddr *)&address)));
		our_close(client);
	}
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

int take_no_more(void)
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
int get_after_removal(void)
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
int reject_without_channel(void)
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
