/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * From a cm_id to a connection: ids, addresses, connect requests. See our_control.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "private.h"

#define RESOLVE_TIMEOUT_MS 2000
#define RETRY_COUNT        6  /* three bits, but soft-RoCE takes 7 for "forever" */
#define RNR_RETRY_COUNT    7  /* means "forever" */
#define RNR_TIMER          12 /* 0.64 ms: the InfiniBand specification has the codes */
#define ADDRESS_TEXT       80

bool our_is_iwarp(const struct ibv_context *verbs)
{
	return verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

void our_learn_device(struct our_control *control)
{
	control->verbs = control->cm_id->verbs;
	control->port_num = control->cm_id->port_num;
}

static const char *address_text(const struct sockaddr *address, char *text)
{
	const struct sockaddr_in6 *v6 = (const void *)address;
	const struct sockaddr_in *v4 = (const void *)address;
	char host[INET6_ADDRSTRLEN] = "?";

	if (address->sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
		snprintf(text, ADDRESS_TEXT, "[%s]:%u", host, ntohs(v6->sin6_port));
	} else {
		inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
		snprintf(text, ADDRESS_TEXT, "%s:%u", host, ntohs(v4->sin_port));
	}
	return text;
}

static int report_address(const struct our_control *control, const char *call, int error,
			  const struct sockaddr *address)
{
	char text[ADDRESS_TEXT];

	address_text(address, text);
	switch (error) {
	case EINTR:
		return error;
	case EADDRINUSE:
		return our_report_cm_error(control, call, error,
					   "%s: another program listens there", text);
	case EADDRNOTAVAIL:
	case ENODEV:
		return our_report_cm_error(control, call, error,
					   "%s: no RDMA device serves this address, or the port is "
					   "taken: `rdma link` lists the devices, `ip address` the "
					   "addresses of their netdevs",
					   text);
	case ECONNREFUSED:
		return our_report_cm_error(control, call, error, "nobody listens on %s", text);
	case EACCES:
		return our_report_cm_error(control, call, error, "the server at %s refused us",
					   text);
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return our_report_cm_error(control, call, error, "%s: no answer, or no route there",
					   text);
	default:
		return our_report_cm_error(control, call, error, "%s", text);
	}
}

int our_create_id(struct our_control *control)
{
	const struct our_cm_ops *cm = control->config->waiting.cm;
	int ret = cm->create(control);

	if (ret)
		return ret;
	our_wait_state(control)->leaving = false;
	our_private(control)->failed = false;
	control->ended = 0;
	memset(&control->cm_event, 0, sizeof(control->cm_event));
	if (!rdma_create_id(control->cm_channel, &control->cm_id, control, RDMA_PS_TCP))
		return 0;
	ret = our_report_error(control->config, "rdma_create_id", errno,
			       "is there an RDMA device? `rdma link` lists them");
	cm->destroy(control);
	return ret;
}

void our_destroy_id(struct our_control *control)
{
	if (rdma_destroy_id(control->cm_id))
		our_report_error(control->config, "rdma_destroy_id", errno, NULL);
	control->cm_id = NULL;
	if (control->cm_channel)
		control->config->waiting.cm->destroy(control);
}

int our_client_bind(struct our_control *client, struct sockaddr *server)
{
	int ret;

	ret = rdma_resolve_addr(client->cm_id, NULL, server, RESOLVE_TIMEOUT_MS) ? errno : 0;
	ret = our_await_cm_event(client, RDMA_CM_EVENT_ADDR_RESOLVED, ret);
	if (ret)
		return report_address(client, "rdma_resolve_addr", ret, server);
	ret = rdma_resolve_route(client->cm_id, RESOLVE_TIMEOUT_MS) ? errno : 0;
	ret = our_await_cm_event(client, RDMA_CM_EVENT_ROUTE_RESOLVED, ret);
	if (ret)
		return report_address(client, "rdma_resolve_route", ret, server);
	our_learn_device(client);
	return 0;
}

static bool is_any_address(const struct sockaddr *address)
{
	const struct sockaddr_in6 *v6 = (const void *)address;
	const struct sockaddr_in *v4 = (const void *)address;

	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr);
	return v4->sin_addr.s_addr == htonl(INADDR_ANY);
}

int our_listener_bind(struct our_control *listener, struct sockaddr *address, int backlog)
{
	struct rdma_cm_id *cm_id = listener->cm_id;
	int only = 1, ret = 0;

	/* Else, on some transports only, an IPv6 id that is bound to any address takes IPv4, too. */
	if (address->sa_family == AF_INET6 &&
	    rdma_set_option(cm_id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only, sizeof(only)))
		return report_address(listener, "rdma_set_option", errno, address);
	ret = rdma_bind_addr(cm_id, address) ? errno : 0;
	/* Binding to the loopback address works, but no device is on it, and nobody could connect. */
	if (!ret && !cm_id->verbs && !is_any_address(address))
		ret = ENODEV;
	if (ret)
		return report_address(listener, "rdma_bind_addr", ret, address);
	if (rdma_listen(cm_id, backlog))
		return report_address(listener, "rdma_listen", errno, address);
	our_learn_device(listener);
	return 0;
}

int our_create_agent(struct our_control *listener, struct our_control **created)
{
	struct rdma_cm_id *cm_id = listener->cm_event.cm_id;
	struct our_control *agent;
	int ret;

	ret = our_allocate_control(listener->config, OUR_AGENT, &agent);
	*created = agent;
	if (ret) {
		rdma_destroy_id(cm_id); /* this refuses the client */
		return ret;
	}
	agent->cm_event = listener->cm_event;
	agent->cm_id = cm_id;
	cm_id->context = agent;
	our_learn_device(agent);
	return 0;
}

int our_get_request(struct our_control *listener, struct our_control **agent)
{
	int ret = our_await_cm_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);

	*agent = NULL;
	if (ret == EINTR)
		return ret;
	if (ret)
		return our_report_cm_error(listener, "rdma_get_cm_event", ret,
					   "nobody can connect any more");
	return our_create_agent(listener, agent);
}

int our_migrate_id(struct our_control *agent)
{
	const struct our_cm_ops *cm = agent->config->waiting.cm;
	int ret = cm->create(agent);

	if (ret)
		return ret;
	if (!rdma_migrate_id(agent->cm_id, agent->cm_channel))
		return 0;
	ret = our_report_error(agent->config, "rdma_migrate_id", errno, NULL);
	cm->destroy(agent);
	return ret;
}

static uint8_t at_most(uint8_t value, uint8_t limit)
{
	return value < limit ? value : limit;
}

static void setup_conn_params(struct our_control *control, struct rdma_conn_param *param,
			      const void *private_data, size_t length)
{
	memset(param, 0, sizeof(*param));
	param->private_data = private_data;
	param->private_data_len = (uint8_t)length;
	param->responder_resources = control->read_depth;
	param->initiator_depth = control->read_depth;
	param->retry_count = RETRY_COUNT;
	param->rnr_retry_count = RNR_RETRY_COUNT;
	if (control->role != OUR_AGENT)
		return;
	/* Not more than the client offered. The event means both from our side already. */
	param->responder_resources =
		at_most(control->read_depth, control->cm_event.responder_resources);
	param->initiator_depth = at_most(control->read_depth, control->cm_event.initiator_depth);
}

static int check_length(const struct our_control *control, const char *call, size_t length,
			size_t most)
{
	if (length <= most)
		return 0;
	return our_report_error(control->config, call, EINVAL,
				"%zu bytes of private data: at most %zu fit on every transport",
				length, most);
}

/*
 * Whether nobody listens there. InfiniBand and RoCE have a reason for it,
 * IB_CM_REJ_INVALID_SERVICE_ID in the InfiniBand specification; iWARP has TCP's refusal.
 */
static bool nobody_listens(const struct our_cm_event *event)
{
	return event->type != RDMA_CM_EVENT_REJECTED || event->status == 8 ||
	       event->status == -ECONNREFUSED;
}

/* rdma_cm leaves the timer at 0, which means 655 ms: how long a sender waits for a receive. */
static int setup_rnr_timer(struct our_control *control)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = RNR_TIMER };
	struct ibv_qp_init_attr init_attr;
	int ret;

	if (control->verbs->device->transport_type != IBV_TRANSPORT_IB)
		return 0;
	ret = ibv_modify_qp(control->qp, &attr, IBV_QP_MIN_RNR_TIMER);
	if (!ret)
		return 0;
	/* The peer may leave as soon as it is connected; the next wait will notice that. */
	if (!ibv_query_qp(control->qp, &attr, IBV_QP_STATE, &init_attr) &&
	    attr.qp_state != IBV_QPS_RTS)
		return 0;
	return our_report_error(control->config, "ibv_modify_qp", ret, NULL);
}

int our_note_established(struct our_control *control)
{
	if (control->connected)
		return 0;
	control->connected = true;
	return setup_rnr_timer(control);
}

int our_client_connect(struct our_control *client, const void *private_data, size_t length)
{
	struct rdma_conn_param param;
	int ret;

	ret = check_length(client, "rdma_connect", length, OUR_MOST_TO_CONNECT);
	if (ret)
		return ret;
	setup_conn_params(client, &param, private_data, length);
	ret = rdma_connect(client->cm_id, &param) ? errno : 0;
	ret = our_await_cm_event(client, RDMA_CM_EVENT_ESTABLISHED, ret);
	if (ret == ECONNREFUSED && !nobody_listens(&client->cm_event))
		ret = EACCES;
	if (ret)
		return report_address(client, "rdma_connect", ret,
				      rdma_get_peer_addr(client->cm_id));
	return our_note_established(client);
}

static int report_no_client(const struct our_control *agent, int error)
{
	if (error == EINTR)
		return error;
	our_report_cm_error(agent, "rdma_accept", error,
			    error == ENODEV ? "the RDMA device was removed"
					    : "most likely the client has left meanwhile");
	/* If the client has left, librdmacm cannot query the attributes of its id's QP. */
	return error == EINVAL ? ECONNABORTED : error;
}

int our_agent_accept(struct our_control *agent, const void *private_data, size_t length)
{
	struct rdma_conn_param param;
	int ret;

	ret = check_length(agent, "rdma_accept", length, OUR_MOST_TO_ACCEPT);
	if (ret)
		return ret;
	setup_conn_params(agent, &param, private_data, length);
	if (rdma_accept(agent->cm_id, &param))
		return report_no_client(agent, errno);
	our_private(agent)->accepted = true;
	return 0;
}

int our_agent_connect(struct our_control *agent, const void *private_data, size_t length)
{
	int ret = our_agent_accept(agent, private_data, length);

	if (ret)
		return ret;
	ret = our_await_cm_event(agent, RDMA_CM_EVENT_ESTABLISHED, 0);
	return ret ? report_no_client(agent, ret) : our_note_established(agent);
}

void our_agent_reject(struct our_control *agent, const void *private_data, size_t length)
{
	/* It fails if the client has left by itself. */
	rdma_reject(agent->cm_id, length ? private_data : NULL, (uint8_t)length);
}
