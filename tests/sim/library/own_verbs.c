/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * library: verbs of the program's own, beside the library's.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "library.h"

#define WAVE 24 /* messages, more than the library polls at once */

void *send_one(void *unused)
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

int post_by_verbs(void)
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
int resize_cq(void)
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

/* Completions that wait when their QP goes are not those of the next one. */
int forget_completions(void)
{
	struct our_completion completion;

	config.keepalive_s = 1;
	most = WAVE;
	connect_both(NULL);
	send_wave();
	our_disconnect(agent);
	our_unsetup_buffers(agent);
	our_unsetup_qp(agent);
	set_up(agent);
	printf("of the next QP: %s\n", strerror(our_take_completion(agent, &completion)));
	close_both();
	return 0;
}

/* A shared receive queue of the program's own, for a connection that has all else from the library. */
int have_own_pool(void)
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
