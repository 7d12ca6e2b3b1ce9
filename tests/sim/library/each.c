/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * library: each function once; a test has one of them fail.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "library.h"

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
int call_each(void)
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
