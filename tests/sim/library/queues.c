/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * library: shared receive queues, and many connections of one device.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library.h"

#define LONG   4096 /* than the MTU */
#define LIMIT  4    /* the limit of a shared receive queue */
#define KILLED 24
#define ALL    3 /* connections that are closed together */
#define MANY   64
#define DEPTH  16

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
int have_own_queue(void)
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
int have_queue_of_whole(void)
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
int post_own_receive(void)
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
int have_own_receives(void)
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
int leave_to_device(void)
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
int make_many(void)
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

/* Connections one after the other, in a CQ that has grown for the first one. */
int reuse_places(void)
{
	struct our_device *device;
	int i, entries = 0;

	must(our_create_device(&config, listener->verbs, &device), "our_create_device");
	must(our_device_create_cq(device, 1), "our_device_create_cq");
	for (i = 0; i < MANY; i++) {
		must(our_create_control_struct(&config, OUR_CLIENT, &client),
		     "our_create_control_struct");
		must(our_create_id(client), "our_create_id");
		must(our_client_bind(client, (struct sockaddr *)&address), "our_client_bind");
		must(our_use_device(client, device), "our_use_device");
		must(our_setup_qp(client, DEPTH - 1, DEPTH), "our_setup_qp");
		our_close(client);
		if (!i)
			entries = device->cq->cqe;
	}
	printf("entries: %s\n", device->cq->cqe == entries ? "as many as before" : "more");
	our_close_device(device);
	return 0;
}

/* Clients of a server that are killed in the midst of a long message, one after the other. */
int be_killed(void)
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
int close_all(void)
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
