/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * library: how much may be posted, and what happens to requests that fail.
 */
#include <stdio.h>
#include <string.h>

#include "library.h"

#define CROWD 8

/* ---- How much may be posted ---- */

int post_sends(void)
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

/* One byte more than a buffer has, by each call that takes a length of one. */
int post_too_long(void)
{
	connect_both(NULL);
	printf("send: %s\n", strerror(our_post_send(client, 0, SIZE + 1)));
	printf("READ: %s\n", strerror(our_post_read(client, 0, SIZE + 1, 0, 0)));
	printf("WRITE: %s\n", strerror(our_post_write(client, 0, SIZE + 1, 0, 0)));
	close_both();
	return 0;
}

int post_receives(void)
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

int post_unsignaled(void)
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

int post_long_list(void)
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
int post_wrong_list(void)
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
int grow_cq(void)
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

void post_read(uint32_t index, const struct ibv_mr *mr, uint32_t rkey)
{
	must(our_post_read(client, index, SIZE, (uintptr_t)mr->addr, rkey), "our_post_read");
}

/* The second of three READs has a wrong key. */
int read_by_wrong_key(void)
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
