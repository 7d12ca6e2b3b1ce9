/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management layer: a client, from its server's address to its connection. See our_control.h.
 */
#include <errno.h>

#include "common/addresses.h"
#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/report.h"
#include "common/transfer_posting.h"

#define RESOLVE_TIMEOUT_MS 2000

int our_client_bind(struct our_control *control, struct sockaddr *address)
{
	int ret;

	our_start_cm_call(control);
	ret = rdma_resolve_addr(control->cm_id, NULL, address, RESOLVE_TIMEOUT_MS) ? errno : 0;
	ret = our_await_cm_event(control, RDMA_CM_EVENT_ADDR_RESOLVED, ret);
	if (ret)
		return our_report_address(control, "rdma_resolve_addr", ret, address);

	our_start_cm_call(control);
	ret = rdma_resolve_route(control->cm_id, RESOLVE_TIMEOUT_MS) ? errno : 0;
	ret = our_await_cm_event(control, RDMA_CM_EVENT_ROUTE_RESOLVED, ret);
	if (ret)
		return our_report_address(control, "rdma_resolve_route", ret, address);
	our_learn_device(control);
	return 0;
}

/*
 * Whether a connection was refused because no server listens. InfiniBand and RoCE have a reason for
 * that, IB_CM_REJ_INVALID_SERVICE_ID in the IB specification's chapter on the CM. iWARP has only
 * TCP's refusal, which the call itself may return, without any event.
 */
static bool nobody_listens(const struct our_cm_event *event)
{
	return event->type != RDMA_CM_EVENT_REJECTED || event->status == 8 ||
	       event->status == -ECONNREFUSED;
}

static int report_connect(const struct our_control *control, int error)
{
	char text[OUR_ADDRESS_TEXT];

	our_address_text(rdma_get_peer_addr(control->cm_id), text);
	if (error == ECONNREFUSED)
		return our_tell_error(control->config, "rdma_connect", error,
				      "nobody listens on %s: start the server first", text);
	if (error == EADDRINUSE) /* iWARP only: there a connection is one of TCP */
		return our_tell_error(control->config, "rdma_connect", error,
				      "%s: our own port, which rdma_resolve_addr has chosen, is "
				      "in use by TCP: start the client again for another one",
				      text);
	if (control->cm_event.type == RDMA_CM_EVENT_CONNECT_ERROR &&
	    control->cm_event.status == OUR_CM_FAILED_ITSELF)
		return our_tell_cm_error(control, "rdma_connect", error,
					 "%s has accepted, and our device does not take the QP to "
					 "RTR and RTS: do its GID, MTU and read depth fit?",
					 text);
	if (error == EACCES)
		return our_tell_cm_error(control, "rdma_connect", error,
					 "the server at %s refused us", text);
	return our_report_address(control, "rdma_connect", error,
				  rdma_get_peer_addr(control->cm_id));
}

int our_client_connect(struct our_control *control, const void *private_data, size_t length)
{
	struct rdma_conn_param param;
	int ret;

	our_setup_conn_params(control, &param);
	if (length > OUR_MOST_TO_CONNECT)
		return our_tell_error(control->config, "rdma_connect", EMSGSIZE,
				      "%zu bytes of private data, and %d fit", length,
				      OUR_MOST_TO_CONNECT);
	param.private_data = private_data;
	param.private_data_len = (uint8_t)length;
	our_start_cm_call(control);
	ret = rdma_connect(control->cm_id, &param) ? errno : 0;
	ret = our_await_cm_event(control, RDMA_CM_EVENT_ESTABLISHED, ret);
	if (ret == ECONNREFUSED && !nobody_listens(&control->cm_event))
		ret = EACCES;
	if (ret)
		return report_connect(control, ret);
	control->connected = true;
	our_note_established(control);
	return our_setup_rnr_timer(control);
}
