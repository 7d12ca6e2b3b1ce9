/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * From a cm_id to a connection and back, in a flattened program. A client that is refused is not told
 * why: the server says so itself.
 */
#include <errno.h>
#include <stdio.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/stage.h"
#include "program/addresses.h"
#include "program/report.h"

static int report_address(const char *call, int error, const struct sockaddr *address,
			  const char *event)
{
	char text[OUR_ADDRESS_TEXT];
	const char *cause = "";

	if (error == ENODEV || error == EADDRNOTAVAIL)
		cause = ": no RDMA device serves it, or another program listens there";
	if (IS_CLIENT && error == ECONNREFUSED)
		cause = ": nobody listens there, or the server does not want us and says why";
	return our_report_error(call, error, "%s%s", our_address_text(address, text), cause);
}

/* Once the id is bound to a device. */
void our_learn_device(struct our_control *control)
{
	control->verbs = control->cm_id->verbs;
	control->port_num = control->cm_id->port_num;
}

#define OUR_NO_DEVICE_ADVICE "is there an RDMA device, and is the module rdma_ucm loaded?"

/* Refuses a client that has no agent, and destroys its id. */
void our_refuse_request(struct our_control *control, struct rdma_cm_id *cm_id, int error);

/* Makes an agent for the client whose connect request is in listener->cm_event. */
int our_admit_client(struct our_control *listener, struct our_control **admitted);

/* Takes from the connect request what the client wants, and checks it before anything is allocated. */
int our_take_connect_info(struct our_control *control, const struct our_cm_event *request);

/* Accepts the client; RDMA_CM_EVENT_ESTABLISHED follows. */
int our_agent_accept(struct our_control *control);

int our_create_id(struct our_control *control)
{
	int ret;

	if (IS_CLIENT) { /* the address before this one may have got as far as to connect */
		control->leaving = false;
		control->ended = 0;
	}
	ret = rdma_create_id(control->cm_channel, &control->cm_id, control, RDMA_PS_TCP) ? errno
											 : 0;
	if (ret)
		return our_report_error("rdma_create_id", ret, OUR_NO_DEVICE_ADVICE);
	return 0;
}

/* The connect request says what the client offers, from our side already. */
void our_setup_conn_params(struct our_control *control, struct rdma_conn_param *param)
{
	const struct our_cm_event *request = &control->cm_event;
	uint8_t depth = control->read_depth ? control->read_depth : READ_DEPTH;

	memset(param, 0, sizeof(*param));
	param->responder_resources = IS_CLIENT ? depth
					       : at_most(depth, request->responder_resources);
	param->initiator_depth = IS_CLIENT ? depth : at_most(depth, request->initiator_depth);
	param->retry_count = RETRY_COUNT;
	param->rnr_retry_count = RNR_RETRY_COUNT;
}

int our_client_connect(struct our_control *control, bool quietly)
{
	struct rdma_conn_param param;
	int ret;

	our_setup_conn_params(control, &param);
	our_setup_connect_info(control, &param);
	our_start_cm_call(control);
	ret = rdma_connect(control->cm_id, &param) ? errno : 0;
	ret = our_await_cm_event(control, RDMA_CM_EVENT_ESTABLISHED, ret);
	if (ret)
		return report_address("rdma_connect", ret, rdma_get_peer_addr(control->cm_id), "");
	control->connected = true;
	return 0;
}

int our_listener_bind(struct our_control *control, struct sockaddr *address, int backlog)
{
	int ret;

	ret = rdma_bind_addr(control->cm_id, address) ? errno : 0;
	if (ret)
		return report_address("rdma_bind_addr", ret, address, "");
	ret = rdma_listen(control->cm_id, backlog) ? errno : 0;
	if (ret)
		return report_address("rdma_listen", ret, address, "");
	our_learn_device(control);
	return 0;
}

int our_report_no_channel(int error)
{
	return our_report_error("rdma_create_event_channel", error, OUR_NO_DEVICE_ADVICE);
}

int our_report_no_client(const struct our_control *agent, int error)
{
	return our_report_error("rdma_accept", error, "the client may have left");
}

int our_agent_connect(struct our_control *control)
{
	int ret = our_agent_accept(control);

	ret = our_await_cm_event(control, RDMA_CM_EVENT_ESTABLISHED, ret);
	if (ret)
		return our_report_no_client(control, ret);
	control->connected = true;
	return 0;
}

uint8_t our_setup_refusal(struct our_control *control, int error)
{
	return 0;
}
