/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The TCP connection of a flattened program that has no rdma_cm.
 */
#include <errno.h>

#include "common/connection_management.h"
#include "common/stage.h"
#include "ping-rc-0/bare.h"
#include "program/addresses.h"
#include "program/report.h"

int our_create_id(struct our_control *control)
{
	return 0;
}

void our_destroy_id(struct our_control *control)
{
	close_socket(&control->cm_events->socket);
	our_close_device(control);
}

/* There is no id: it is the socket of its cm_event. */
void our_adopt_id(struct our_control *agent, struct rdma_cm_id *cm_id)
{
}

static int report_socket(const char *call, int error, const struct sockaddr *address)
{
	char text[OUR_ADDRESS_TEXT];

	return our_report_error(call, error, "%s", our_address_text(address, text));
}

int our_report_exchange(const struct our_control *control, const char *call, int error)
{
	char text[OUR_ADDRESS_TEXT];

	our_address_text((const struct sockaddr *)&control->peer_address, text);
	if (error == ECONNRESET)
		return our_report_error(call, error, "%s ended the exchange, and says why", text);
	if (error == ETIMEDOUT)
		return our_report_error(call, error, "%s said nothing of its QP", text);
	return our_report_error(call, error, "%s is to say LID:QPN:PSN:GID, and done", text);
}
