/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The client: connects, moves messages, and leaves. client_operation.c decides which messages and
 * how. Read our_run_client first, then connect_to, which sets up what disconnect_from_server tears
 * down.
 */
#include <errno.h>
#include <netdb.h>
#include <time.h>

#include "common/connection_management.h"
#include "common/device.h"
#include "common/stage.h"
#include "measure/clock.h"
#include "program/report.h"
#include "program/stop.h"

static int connect_to(struct our_control *client, struct sockaddr *address, bool quietly)
{
	int ret;

	ret = our_create_event_channel(client);
	if (ret)
		return ret;
	ret = our_create_id(client);
	if (ret)
		goto err_destroy_event_channel;
	ret = our_client_bind(client, address);
	if (ret)
		goto err_destroy_id;
	ret = our_check_data_size(client);
	if (ret)
		goto err_destroy_id;
	ret = our_setup_client_transfer(client);
	if (ret)
		goto err_destroy_id;
	ret = our_client_connect(client, quietly);
	if (ret)
		goto err_disconnect;
	return 0;

err_disconnect:
	our_disconnect(client);
	our_unsetup_transfer(client);
err_destroy_id:
	our_destroy_id(client);
err_destroy_event_channel:
	our_destroy_event_channel(client);
	return ret;
}

/* Tries each address of the server's name until one works. */
static int connect_to_any(struct our_control *client, bool quietly)
{
	struct addrinfo *address;
	int ret = 0;

	for (address = client->options->addresses; address; address = address->ai_next) {
		ret = connect_to(client, address->ai_addr, quietly);
		if (!ret || ret == EINTR || ret == EMSGSIZE)
			break;
		if (address->ai_next && !quietly)
			our_report_sentence("trying the next address of %s",
					    client->options->address);
	}
	return ret;
}

/* With -w, tries again until the server is up or the time is over. */
static int connect_to_server(struct our_control *client)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	uint64_t deadline = our_now_ns() + client->options->wait_s * OUR_NS_PER_S;
	int ret;

	while (our_now_ns() < deadline) {
		ret = connect_to_any(client, true);
		if (ret != ECONNREFUSED)
			return ret;
		nanosleep(&pause, NULL);
		if (our_stop_requested())
			return EINTR;
	}
	return connect_to_any(client, false);
}

static void disconnect_from_server(struct our_control *client)
{
	our_disconnect(client);
	our_unsetup_transfer(client);
	our_destroy_id(client);
	our_destroy_event_channel(client);
}

int our_run_client(struct our_control *client)
{
	int ret, shown;

	ret = connect_to_server(client);
	if (ret)
		return ret;
	ret = our_client_operation(client);
	shown = our_report_results(client);
	disconnect_from_server(client);
	return shown ? shown : ret; /* EINTR is no failure; results that are lost are */
}
