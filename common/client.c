/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management layer: a client, from its server's address to its connection, by calls that
 * wait, or step by step. See our_control.h.
 */
#include <errno.h>

#include "common/private.h"

#define RESOLVE_TIMEOUT_MS 2000

static int resolve_addr(struct our_control *control, struct sockaddr *address)
{
	our_start_cm_call(control);
	return rdma_resolve_addr(control->cm_id, NULL, address, RESOLVE_TIMEOUT_MS) ? errno : 0;
}

static int resolve_route(struct our_control *control)
{
	our_start_cm_call(control);
	return rdma_resolve_route(control->cm_id, RESOLVE_TIMEOUT_MS) ? errno : 0;
}

int our_client_bind(struct our_control *control, struct sockaddr *address)
{
	int ret;

	ret = resolve_addr(control, address); /* rdma_resolve_addr */
	ret = our_await_cm_event(control, RDMA_CM_EVENT_ADDR_RESOLVED, ret);
	if (ret)
		return our_report_address(control, "rdma_resolve_addr", ret, address);

	ret = resolve_route(control); /* rdma_resolve_route */
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

static int check_length(const struct our_control *control, size_t length)
{
	if (length <= OUR_MOST_TO_CONNECT)
		return 0;
	return our_tell_error(control->config, "rdma_connect", EMSGSIZE,
			      "%zu bytes of private data, and %d fit", length, OUR_MOST_TO_CONNECT);
}

static int start_connect(struct our_control *control, const void *private_data, size_t length)
{
	struct rdma_conn_param param;

	our_setup_conn_params(control, &param);
	param.private_data = private_data;
	param.private_data_len = (uint8_t)length;
	our_start_cm_call(control);
	return rdma_connect(control->cm_id, &param) ? errno : 0;
}

static int report_no_connection(struct our_control *control, int error)
{
	if (error == ECONNREFUSED && !nobody_listens(&control->cm_event))
		error = EACCES;
	return report_connect(control, error);
}

int our_client_connect(struct our_control *control, const void *private_data, size_t length)
{
	int ret = check_length(control, length);

	if (ret)
		return ret;
	ret = start_connect(control, private_data, length); /* rdma_connect */
	ret = our_await_cm_event(control, RDMA_CM_EVENT_ESTABLISHED, ret);
	if (ret)
		return report_no_connection(control, ret);
	return our_note_connected(control);
}

int our_start_bind(struct our_control *control, struct sockaddr *address)
{
	int ret;

	if (!control->config->waiting.cm->take)
		return our_tell_error(control->config, "our_start_bind", EINVAL,
				      "this way to wait for CM events needs calls that block");
	ret = resolve_addr(control, address);
	return ret ? our_report_address(control, "rdma_resolve_addr", ret, address) : 0;
}

int our_start_connect(struct our_control *control, const void *private_data, size_t length)
{
	int ret = check_length(control, length);

	if (ret)
		return ret;
	ret = start_connect(control, private_data, length);
	return ret ? report_no_connection(control, ret) : 0;
}

int our_take_step(struct our_control *control)
{
	const struct our_cm_event *event = &control->cm_event;
	const struct sockaddr *address = rdma_get_peer_addr(control->cm_id);
	int ret = our_judge_cm_event(event, OUR_NO_CM_EVENT);

	switch (event->type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ret = resolve_route(control);
		return ret ? our_report_address(control, "rdma_resolve_route", ret, address)
			   : EAGAIN;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		our_learn_device(control);
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
		return our_note_connected(control);
	case RDMA_CM_EVENT_ADDR_ERROR:
		return our_report_address(control, "rdma_resolve_addr", ret, address);
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return our_report_address(control, "rdma_resolve_route", ret, address);
	default:
		if (!control->verbs) /* not even resolved */
			return our_report_address(control,
						  control->cm_id->verbs ? "rdma_resolve_route"
									: "rdma_resolve_addr",
						  ret, address);
		return report_no_connection(control, ret);
	}
}
