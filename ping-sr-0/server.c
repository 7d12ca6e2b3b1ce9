/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The server: listens, serves the clients that connect, and ends.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>

#include "common/connection_management.h"
#include "common/device.h"
#include "common/stage.h"
#include "program/addresses.h"
#include "program/report.h"

#define BACKLOG 1024 /* clients that wait while others are served; the kernel takes no more */

static int listen_on(struct our_control *listener, struct sockaddr *address)
{
	char text[OUR_ADDRESS_TEXT];
	int ret;

	ret = our_listener_bind(listener, address, BACKLOG);
	if (ret)
		return ret;
	ret = our_check_data_size(listener);
	if (ret)
		return ret;
	if (!listener->options->quiet)
		our_report_sentence("listening on %s", our_address_text(address, text));
	return 0;
}

/* Tries each address of a name, each with a new id, until one works. */
static int listen_on_one(struct our_control *listener, struct addrinfo **address)
{
	int ret;

	for (;;) {
		ret = our_create_id(listener);
		if (ret)
			return ret;
		ret = listen_on(listener, (*address)->ai_addr);
		if (!ret)
			return 0;
		our_destroy_id(listener);
		if (ret == EMSGSIZE || ret == EADDRINUSE || !(*address)->ai_next)
			return ret;
		*address = (*address)->ai_next;
	}
}

static int start_listening(struct our_control *listener)
{
	struct addrinfo *address = listener->options->addresses;
	bool any = !listener->options->address;
	int ret;

	ret = our_create_event_channel(listener);
	if (ret)
		return ret;
	ret = listen_on_one(listener, &address);
	if (ret)
		goto err_destroy_event_channel;
	/* "Any" is two addresses, one of IPv4 and one of IPv6: it listens on both. */
	if (any && address->ai_next)
		our_listener_bind_also(listener, address->ai_next->ai_addr, BACKLOG);
	return 0;

err_destroy_event_channel:
	our_destroy_event_channel(listener);
	return ret;
}

static void stop_listening(struct our_control *listener)
{
	our_destroy_id(listener);
	our_destroy_event_channel(listener);
}

int our_run_server(struct our_control *listener)
{
	int ret = start_listening(listener);

	if (ret)
		return ret;
	ret = our_stage.serve(listener);
	stop_listening(listener);
	return ret;
}
