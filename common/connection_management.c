/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management layer: from a cm_id to a connection and back. See
 * connection_management.h.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "common/addresses.h"
#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/report.h"
#include "common/transfer_posting.h"
#include "common/waiting.h"

#define RESOLVE_TIMEOUT_MS 2000
#define RETRY_COUNT        6 /* three bits, but soft-RoCE takes 7 for "forever" */
#define RNR_RETRY_COUNT    7 /* means "forever" */
#define READ_DEPTH         1 /* also for a side that sends no RDMA READs: some devices refuse 0 */

int our_create_id(struct our_control *control)
{
	int ret;

	/* A client that was refused tries again, with a new id. */
	our_private(control)->leaving = false;
	control->ended = 0;
	memset(&control->cm_event, 0, sizeof(control->cm_event));
	ret = our_create_event_channel(control);
	if (ret)
		return ret;
	ret = rdma_create_id(control->cm_channel, &control->cm_id, control, RDMA_PS_TCP) ? errno
											 : 0;
	if (!ret)
		return 0;
	our_tell_error(control->config, "rdma_create_id", ret, OUR_NO_DEVICE_ADVICE);
	our_destroy_event_channel(control);
	return ret;
}

int our_report_no_channel(const struct our_control *control, int error)
{
	if (error == EMFILE)
		return our_tell_error(
			control->config, "rdma_create_event_channel", error,
			"each connection takes descriptors: raise their limit (ulimit -n)");
	return our_tell_error(control->config, "rdma_create_event_channel", error,
			      OUR_NO_DEVICE_ADVICE);
}

static void copy_address(struct sockaddr_storage *copy, const struct sockaddr *address)
{
	memcpy(copy, address,
	       address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in));
}

void our_learn_device(struct our_control *control)
{
	control->verbs = control->cm_id->verbs;
	control->port_num = control->cm_id->port_num;
	copy_address(&control->local_address, rdma_get_local_addr(control->cm_id));
	copy_address(&control->peer_address, rdma_get_peer_addr(control->cm_id));
}

void our_adopt_id(struct our_control *agent, struct rdma_cm_id *cm_id)
{
	cm_id->context = agent;
	agent->cm_id = cm_id;
	our_learn_device(agent);
}

/*
 * The id shares the listener's channel. Two threads that read one channel would take each other's
 * events: the listener's would get this client's disconnect, and ours a request.
 */
int our_migrate_to_channel(struct our_control *agent, struct rdma_cm_id *cm_id)
{
	int ret = rdma_migrate_id(cm_id, agent->cm_channel) ? errno : 0;

	if (ret) {
		our_tell_error(agent->config, "rdma_migrate_id", ret, NULL);
		rdma_destroy_id(cm_id);
		return ret;
	}
	our_adopt_id(agent, cm_id);
	return 0;
}

int our_migrate_id(struct our_control *agent)
{
	struct rdma_cm_id *cm_id = agent->cm_id;
	int ret = our_create_event_channel(agent);

	if (ret) {
		our_refuse_request(agent, cm_id, ret);
		agent->cm_id = NULL;
		return ret;
	}
	ret = agent->config->waiting.cm->migrate(agent, cm_id);
	if (ret) {
		agent->cm_id = NULL; /* destroyed */
		our_destroy_event_channel(agent);
	}
	return ret;
}

static void destroy_id(const struct our_control *control, struct rdma_cm_id **cm_id)
{
	if (rdma_destroy_id(*cm_id))
		our_tell_error(control->config, "rdma_destroy_id", errno, NULL);
	*cm_id = NULL;
}

void our_destroy_id(struct our_control *control)
{
	if (our_private(control)->second_cm_id)
		destroy_id(control, &our_private(control)->second_cm_id);
	destroy_id(control, &control->cm_id);
	our_destroy_event_channel(control);
}

static int report_address(const struct our_control *control, const char *call, int error,
			  const struct sockaddr *address)
{
	char text[OUR_ADDRESS_TEXT];

	our_address_text(address, text);
	if (error == ENODEV && error == our_judge_cm_event(&control->cm_event, OUR_NO_CM_EVENT))
		return our_tell_cm_error(control, call, error, "%s: the RDMA device was removed",
					 text);
	/* The kernel has the same error for "not my address" and "port taken". */
	if (error == EADDRNOTAVAIL && our_is_local_address(address))
		error = EADDRINUSE;
	switch (error) {
	case EADDRINUSE:
		return our_tell_error(control->config, call, error,
				      "%s: another program listens there: stop it, or choose "
				      "another port",
				      text);
	case EADDRNOTAVAIL:
	case ENODEV:
		return our_tell_error(control->config, call, error,
				      "%s: no RDMA device serves this address: `rdma link` lists "
				      "the devices, `ip address` the addresses of their netdevs",
				      text);
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return our_tell_cm_error(control, call, error, "%s: no answer, or no route there",
					 text);
	default:
		return our_tell_cm_error(control, call, error, "%s", text);
	}
}

int our_client_bind(struct our_control *control, struct sockaddr *address)
{
	int ret;

	our_start_cm_call(control);
	ret = rdma_resolve_addr(control->cm_id, NULL, address, RESOLVE_TIMEOUT_MS) ? errno : 0;
	ret = our_await_cm_event(control, RDMA_CM_EVENT_ADDR_RESOLVED, ret);
	if (ret)
		return report_address(control, "rdma_resolve_addr", ret, address);

	our_start_cm_call(control);
	ret = rdma_resolve_route(control->cm_id, RESOLVE_TIMEOUT_MS) ? errno : 0;
	ret = our_await_cm_event(control, RDMA_CM_EVENT_ROUTE_RESOLVED, ret);
	if (ret)
		return report_address(control, "rdma_resolve_route", ret, address);
	our_learn_device(control);
	return 0;
}

/*
 * An IPv6 id keeps to IPv6. Otherwise, on RoCE and InfiniBand only, one that is bound to any
 * address also takes the IPv4 addresses. It is better to need a second id on all devices than on
 * some.
 */
static int keep_to_family(const struct our_control *listener, struct rdma_cm_id *cm_id,
			  const struct sockaddr *address)
{
	int only = 1, ret;

	if (address->sa_family != AF_INET6)
		return 0;
	ret = rdma_set_option(cm_id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only, sizeof(only))
		      ? errno
		      : 0;
	return ret ? report_address(listener, "rdma_set_option", ret, address) : 0;
}

static int bind_and_listen(const struct our_control *listener, struct rdma_cm_id *cm_id,
			   struct sockaddr *address, int backlog)
{
	int ret;

	ret = keep_to_family(listener, cm_id, address);
	if (ret)
		return ret;
	ret = rdma_bind_addr(cm_id, address) ? errno : 0;
	/*
	 * Binding to the loopback address works, but there is no device on it: no client could
	 * connect.
	 */
	if (!ret && !cm_id->verbs && !our_is_any_address(address))
		ret = ENODEV;
	if (ret)
		return report_address(listener, "rdma_bind_addr", ret, address);

	ret = rdma_listen(cm_id, backlog) ? errno : 0;
	if (ret)
		return report_address(listener, "rdma_listen", ret, address);
	return 0;
}

int our_listener_bind(struct our_control *control, struct sockaddr *address, int backlog)
{
	int ret = bind_and_listen(control, control->cm_id, address, backlog);

	if (!ret)
		our_learn_device(control);
	return ret;
}

int our_listener_bind_also(struct our_control *control, struct sockaddr *address, int backlog)
{
	struct rdma_event_channel *channel = control->cm_id->channel;

	if (rdma_create_id(channel, &our_private(control)->second_cm_id, control, RDMA_PS_TCP))
		return our_tell_error(control->config, "rdma_create_id", errno, NULL);
	return bind_and_listen(control, our_private(control)->second_cm_id, address, backlog);
}

static uint8_t at_most(uint8_t value, uint8_t limit)
{
	return value < limit ? value : limit;
}

void our_setup_conn_params(struct our_control *control, struct rdma_conn_param *param)
{
	uint8_t depth = control->read_depth ? control->read_depth : READ_DEPTH;

	memset(param, 0, sizeof(*param));
	param->responder_resources = depth;
	param->initiator_depth = depth;
	param->retry_count = RETRY_COUNT;
	param->rnr_retry_count = RNR_RETRY_COUNT;
	if (control->cm_event.type != RDMA_CM_EVENT_CONNECT_REQUEST)
		return;
	/*
	 * An agent may not ask for more than the client offered. The event already has the depths
	 * from our side: responder_resources is how many requests we have to answer. See
	 * rdma_get_cm_event(3).
	 */
	param->responder_resources = at_most(depth, control->cm_event.responder_resources);
	param->initiator_depth = at_most(depth, control->cm_event.initiator_depth);
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
	if (error == EACCES)
		return our_tell_cm_error(control, "rdma_connect", error,
					 "the server at %s refused us", text);
	return report_address(control, "rdma_connect", error, rdma_get_peer_addr(control->cm_id));
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
	control->accepted = true;
	return our_setup_rnr_timer(control);
}
