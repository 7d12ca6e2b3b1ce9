/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A flattened server listens on one address: the first that -a means, or any.
 */
#include "common/connection_management.h"
#include "common/stage.h"
#include "program/addresses.h"
#include "program/report.h"

static int start_listening(struct our_control *listener)
{
	struct sockaddr *address = listener->options->addresses->ai_addr;
	char text[OUR_ADDRESS_TEXT];
	int ret;

	ret = our_create_event_channel(listener);
	if (ret)
		return ret;
	ret = our_create_id(listener);
	if (ret)
		goto err_destroy_event_channel;
	ret = our_listener_bind(listener, address, BACKLOG);
	if (ret)
		goto err_destroy_id;
	our_report_sentence("listening on %s", our_address_text(address, text));
	return 0;

err_destroy_id:
	our_destroy_id(listener);
err_destroy_event_channel:
	our_destroy_event_channel(listener);
	return ret;
}
