/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Where a listener listens: on the address that the user named, or on any.
 */
#include <errno.h>
#include <netdb.h>

#include "common/private.h"
#include "measure/run.h"
#include "program/report.h"
#include "program/stage.h"
#include "serve/serve.h"

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
	if (!our_options_of(listener)->quiet)
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

int our_listen(struct our_control *listener)
{
	struct addrinfo *address = our_options_of(listener)->addresses;
	bool any = !our_options_of(listener)->address;
	int ret;

	ret = listen_on_one(listener, &address);
	if (ret)
		return ret;
	/* "Any" is two addresses, one of IPv4 and one of IPv6: it listens on both. */
	if (any && address->ai_next)
		our_listener_bind_also(listener, address->ai_next->ai_addr, BACKLOG);
	return 0;
}
