/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connections: the cm_id, and the steps to a connection and away from it, for client, listener and
 * agent. See our_control.h, roles.h and private.h.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "common/private.h"

#define RESOLVE_S        2
#define RESOLVE_TRIES    3  /* for an address, and for a route */
#define RETRY_COUNT      6  /* three bits, but soft-RoCE takes 7 for "forever" */
#define RNR_RETRY_COUNT  7  /* means "forever" */
#define MOST_RETRIES     7  /* three bits, too */
#define MOST_ACK_TIMEOUT 31 /* five bits */
#define READ_DEPTH       1  /* also for a side that sends no RDMA READs: some devices refuse 0 */

/* ---- The id ---- */

static void reject(struct our_control *control, struct rdma_cm_id *cm_id, int error)
{
	uint8_t data[OUR_MAX_PRIVATE_DATA];
	size_t length = control->config->refuse ? control->config->refuse(control, error, data) : 0;

	/* rdma_reject fails if the client has left by itself. */
	rdma_reject(cm_id, length ? data : NULL, (uint8_t)length);
}

void our_agent_reject(struct our_control *control, int error)
{
	if (!control || control->accepted ||
	    control->cm_event.type != RDMA_CM_EVENT_CONNECT_REQUEST ||
	    !control->cm_id) /* our_migrate_id has refused the client */
		return;
	reject(control, control->cm_id, error);
}

void our_reject_request(struct our_control *control, struct rdma_cm_id *cm_id, int error)
{
	reject(control, cm_id, error);
	rdma_destroy_id(cm_id);
}

int our_create_id(struct our_control *control)
{
	int ret;

	/* A client that was refused may try again, with a new id: reset what the last one has set. */
	our_private(control)->leaving = false;
	atomic_store(&our_private(control)->unreadable, 0);
	atomic_store(&our_private(control)->async.error, 0);
	control->connected = control->accepted = control->complete = false;
	control->verbs = NULL;
	control->ended = 0;
	memset(&control->cm_event, 0, sizeof(control->cm_event));
	ret = our_create_event_channel(control);
	if (ret)
		return ret;
	ret = OUR_CALL(rdma_create_id(control->cm_channel, &control->cm_id, control, RDMA_PS_TCP));
	if (!ret)
		return our_changed(control);
	our_tell_error(control->config, "rdma_create_id", ret, OUR_NO_DEVICE_ADVICE);
	our_destroy_event_channel(control);
	return ret;
}

static void copy_address(struct sockaddr_storage *copy, const struct sockaddr *address)
{
	memcpy(copy, address,
	       address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in));
}

/* The code that does not know the CM finds the device and the addresses in `control`. */
static void learn_device(struct our_control *control)
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
	learn_device(agent);
}

/*
 * The id shares the listener's channel. Two threads that read one channel would take each other's
 * events: the listener's would get this client's disconnect, and ours a request.
 */
int our_migrate_to_channel(struct our_control *agent, struct rdma_cm_id *cm_id)
{
	int ret = OUR_CALL(rdma_migrate_id(cm_id, agent->cm_channel));

	if (ret) {
		our_tell_error(agent->config, "rdma_migrate_id", ret, NULL);
		rdma_destroy_id(cm_id);
		return ret;
	}
	return 0;
}

int our_migrate_id(struct our_control *agent)
{
	struct rdma_cm_id *cm_id = agent->cm_id;
	int ret = our_create_event_channel(agent);

	our_leave_poll_group(agent);
	if (ret) {
		our_reject_request(agent, cm_id, ret);
		agent->cm_id = NULL;
		return ret;
	}
	ret = agent->config->waiting.cm->migrate(agent, cm_id);
	if (ret) {
		agent->cm_id = NULL; /* migrate has destroyed it */
		our_destroy_event_channel(agent);
	}
	return ret;
}

static void destroy_id(const struct our_control *control, struct rdma_cm_id **cm_id)
{
	int ret;

	(*cm_id)->context = NULL; /* if rdma_destroy_id fails, the id's events still come */
	ret = OUR_CALL(rdma_destroy_id(*cm_id));
	if (ret)
		our_tell_error(control->config, "rdma_destroy_id", ret, NULL);
	*cm_id = NULL;
}

void our_stop_listening(struct our_control *listener)
{
	our_await_call(listener);
	if (our_private(listener)->second_cm_id)
		destroy_id(listener, &our_private(listener)->second_cm_id);
	if (listener->cm_id)
		destroy_id(listener, &listener->cm_id);
}

/* Returns true unless the id ends as it was meant to, so that its device may have been removed. */
static bool may_be_removed(const struct our_control *control)
{
	bool meant = control->complete || control->role == OUR_LISTENER;

	return control->cm_id && control->cm_id->verbs && (!meant || control->ended == ENODEV);
}

void our_destroy_id(struct our_control *control)
{
	const struct ibv_context *verbs = NULL;
	const struct ibv_device *device = NULL;

	our_leave_poll_group(control);
	our_await_call(control); /* another thread may set the id's device until then */
	if (may_be_removed(control)) {
		verbs = control->cm_id->verbs;
		device = verbs->device;
	}
	our_stop_listening(control);
	our_destroy_event_channel(control);
	if (device)
		our_let_go_of(verbs, device);
}

/* ---- What both sides tell each other ---- */

static uint8_t at_most(uint8_t value, int limit)
{
	return value < limit ? value : (uint8_t)limit;
}

/* rdma_connect and rdma_accept refuse a depth above the device's limit, which is at least one. */
static void setup_depths(const struct our_control *control, struct rdma_conn_param *param)
{
	uint8_t depth = control->read_depth ? control->read_depth : READ_DEPTH;
	struct ibv_device_attr device;

	param->responder_resources = depth;
	param->initiator_depth = depth;
	if (depth == READ_DEPTH || ibv_query_device(control->verbs, &device))
		return;
	param->responder_resources = at_most(depth, device.max_qp_rd_atom);
	param->initiator_depth = at_most(depth, device.max_qp_init_rd_atom);
}

/* retry_count is never 0, because then the first lost packet would end the connection. */
static void setup_retries(const struct our_config *config, struct rdma_conn_param *param)
{
	uint8_t rnr = config->rnr_retry_count ? config->rnr_retry_count : RNR_RETRY_COUNT;

	param->retry_count =
		at_most(config->retry_count ? config->retry_count : RETRY_COUNT, MOST_RETRIES);
	param->rnr_retry_count = rnr == OUR_NEVER ? 0 : at_most(rnr, MOST_RETRIES);
}

void our_setup_conn_params(struct our_control *control, struct rdma_conn_param *param)
{
	memset(param, 0, sizeof(*param));
	setup_retries(control->config, param);
	setup_depths(control, param);
	if (control->cm_event.type != RDMA_CM_EVENT_CONNECT_REQUEST)
		return;
	/*
	 * An agent may not ask for more than the client offered. The event already has the depths
	 * from our side: responder_resources is how many requests we have to answer. See
	 * rdma_get_cm_event(3).
	 */
	param->responder_resources =
		at_most(param->responder_resources, control->cm_event.responder_resources);
	param->initiator_depth = at_most(param->initiator_depth, control->cm_event.initiator_depth);
}

/*
 * Reports that `call`, for `address`, has failed, with what can be done about it. Returns the errno value
 * that fits best.
 */
static int report_address(const struct our_control *control, const char *call, int error,
			  const struct sockaddr *address)
{
	char text[OUR_ADDRESS_TEXT];

	our_address_text(address, text);
	if (error == ENODEV && control->cm_event.type == RDMA_CM_EVENT_DEVICE_REMOVAL)
		return our_tell_cm_error(control, call, error, "%s: the RDMA device was removed",
					 text);
	/* rdma_bind_addr gets the same error from the kernel for "not my address" and "port taken". */
	if (error == EADDRNOTAVAIL && strcmp(call, "rdma_resolve_addr") &&
	    our_is_local_address(address))
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
	case EACCES:
		return our_tell_error(control->config, call, error,
				      "%s: a port below 1024 is for root alone: choose another one",
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

/* Called before the route is resolved, or a client accepted. Not all kernels know the option. */
static int set_ack_timeout(const struct our_control *control)
{
	uint8_t timeout = control->config->ack_timeout;
	int ret = timeout > MOST_ACK_TIMEOUT ? EINVAL : 0;

	if (!timeout)
		return 0;
	if (!ret)
		ret = OUR_CALL(rdma_set_option(control->cm_id, RDMA_OPTION_ID,
					       RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
					       sizeof(timeout)));
	return ret ? our_tell_error(control->config, "rdma_set_option", ret,
				    "an ack timeout of %u: it is at most %d, and Linux before 5.1 "
				    "has none",
				    timeout, MOST_ACK_TIMEOUT)
		   : 0;
}

/* ---- The client ---- */

static int resolve_ms(const struct our_config *config)
{
	return (config->resolve_s ? config->resolve_s : RESOLVE_S) * 1000;
}

/* Returns true to resolve once more, as the request or the answer to it may have been lost. */
static bool ask_again(struct our_control *control)
{
	struct our_cm_event *event = &control->cm_event;

	if (event->status != -ETIMEDOUT ||
	    (event->type != RDMA_CM_EVENT_ADDR_ERROR && event->type != RDMA_CM_EVENT_ROUTE_ERROR) ||
	    ++our_private(control)->asked >= RESOLVE_TRIES)
		return false;
	event->status = 0; /* so that a wait without an event finds 0 */
	return true;
}

static int resolve_addr(struct our_control *control, const struct sockaddr *address)
{
	struct sockaddr_storage copy = { .ss_family = 0 }; /* `address` may point into the id */

	copy_address(&copy, address);
	our_start_cm_call(control);
	return OUR_CALL(rdma_resolve_addr(control->cm_id, NULL, (struct sockaddr *)&copy,
					  resolve_ms(control->config)));
}

static int resolve_route(struct our_control *control)
{
	our_start_cm_call(control);
	return OUR_CALL(rdma_resolve_route(control->cm_id, resolve_ms(control->config)));
}

int our_client_bind(struct our_control *control, struct sockaddr *address)
{
	int ret = set_ack_timeout(control);

	if (ret)
		return ret;
	our_private(control)->asked = 0;
	do {
		ret = resolve_addr(control, address); /* rdma_resolve_addr */
		ret = our_await_cm_event(control, RDMA_CM_EVENT_ADDR_RESOLVED, ret);
	} while (ret == ETIMEDOUT && ask_again(control));
	if (ret)
		return report_address(control, "rdma_resolve_addr", ret, address);

	our_private(control)->asked = 0;
	do {
		ret = resolve_route(control); /* rdma_resolve_route */
		ret = our_await_cm_event(control, RDMA_CM_EVENT_ROUTE_RESOLVED, ret);
	} while (ret == ETIMEDOUT && ask_again(control));
	if (ret)
		return report_address(control, "rdma_resolve_route", ret, address);
	learn_device(control);
	return 0;
}

/*
 * Returns true if a connection was refused because no server listens. On InfiniBand and RoCE the
 * reason for that is IB_CM_REJ_INVALID_SERVICE_ID in the IB specification's chapter on the CM.
 * iWARP has only TCP's refusal, which rdma_connect itself may return, without any event.
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
	return report_address(control, "rdma_connect", error, rdma_get_peer_addr(control->cm_id));
}

static int check_length(const struct our_control *control, size_t length)
{
	if (length <= OUR_MOST_TO_CONNECT)
		return 0;
	return our_tell_error(control->config, "rdma_connect", EMSGSIZE,
			      "%zu bytes of private data, and %d fit", length, OUR_MOST_TO_CONNECT);
}

struct attempt {
	struct rdma_conn_param param;
	uint8_t private_data[OUR_MOST_TO_CONNECT];
};

static int connect_now(struct our_control *control, void *given)
{
	struct attempt *attempt = given;

	attempt->param.private_data = attempt->private_data;
	return OUR_CALL(rdma_connect(control->cm_id, &attempt->param));
}

/*
 * On soft-iWARP rdma_connect waits for TCP, and no driver says whether it does. Without a thread for it,
 * the program waits.
 */
static int start_connect(struct our_control *control, const void *private_data, size_t length)
{
	struct attempt attempt = { .param.private_data_len = 0 };

	our_setup_conn_params(control, &attempt.param);
	if (length)
		memcpy(attempt.private_data, private_data, length);
	attempt.param.private_data_len = (uint8_t)length;
	our_start_cm_call(control);
	if (our_is_iwarp(control) && our_private(control)->call.possible &&
	    !our_start_call(control, connect_now, &attempt, sizeof(attempt)))
		return 0;
	return connect_now(control, &attempt);
}

int our_report_no_connection(const struct our_control *control, int error)
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
		return our_report_no_connection(control, ret);
	return our_finish_connect(control);
}

int our_start_bind(struct our_control *control, struct sockaddr *address)
{
	int ret;

	if (!control->config->waiting.cm->take)
		return our_tell_error(control->config, "our_start_bind", EINVAL,
				      "this way to wait for CM events needs calls that block");
	ret = set_ack_timeout(control);
	if (ret)
		return ret;
	our_private(control)->asked = 0;
	ret = resolve_addr(control, address);
	return ret ? report_address(control, "rdma_resolve_addr", ret, address) : 0;
}

int our_start_connect(struct our_control *control, const void *private_data, size_t length)
{
	int ret = check_length(control, length);

	if (ret)
		return ret;
	ret = start_connect(control, private_data, length);
	return ret ? our_report_no_connection(control, ret) : 0;
}

int our_do_step(struct our_control *control)
{
	const struct our_cm_event *event = &control->cm_event;
	const struct sockaddr *address = rdma_get_peer_addr(control->cm_id);
	int ret = our_error_of_event(event, OUR_NO_CM_EVENT);

	switch (event->type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		our_private(control)->asked = 0;
		ret = resolve_route(control);
		return ret ? report_address(control, "rdma_resolve_route", ret, address) : EAGAIN;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		learn_device(control);
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
		return our_finish_connect(control);
	case RDMA_CM_EVENT_ADDR_ERROR:
		if (ask_again(control))
			ret = resolve_addr(control, address);
		return ret ? report_address(control, "rdma_resolve_addr", ret, address) : EAGAIN;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		if (ask_again(control))
			ret = resolve_route(control);
		return ret ? report_address(control, "rdma_resolve_route", ret, address) : EAGAIN;
	default:
		if (!control->verbs) /* not even resolved */
			return report_address(control,
					      control->cm_id->verbs ? "rdma_resolve_route"
								    : "rdma_resolve_addr",
					      ret, address);
		return our_report_no_connection(control, ret);
	}
}

/* ---- The listener, and its agents ---- */

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
	ret = OUR_CALL(
		rdma_set_option(cm_id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only, sizeof(only)));
	return ret ? report_address(listener, "rdma_set_option", ret, address) : 0;
}

/*
 * rdma_bind_addr binds the loopback address to no device. InfiniBand serves it, RoCE and iWARP do not,
 * and rdma_cm says so if one resolves a route there, as a client would.
 */
static bool is_served(struct sockaddr *address)
{
	struct rdma_cm_id *cm_id;
	bool served;

	if (rdma_create_id(NULL, &cm_id, NULL, RDMA_PS_TCP)) /* calls block, for this machine */
		return false;
	served = !rdma_resolve_addr(cm_id, NULL, address, RESOLVE_S * 1000) &&
		 !rdma_resolve_route(cm_id, RESOLVE_S * 1000);
	rdma_destroy_id(cm_id);
	return served;
}

static int bind_and_listen(const struct our_control *listener, struct rdma_cm_id *cm_id,
			   struct sockaddr *address, int backlog)
{
	int ret;

	ret = keep_to_family(listener, cm_id, address);
	if (ret)
		return ret;
	ret = OUR_CALL(rdma_bind_addr(cm_id, address));
	if (!ret && !cm_id->verbs && !our_is_any_address(address) && !is_served(address))
		ret = ENODEV; /* no client could connect */
	if (ret)
		return report_address(listener, "rdma_bind_addr", ret, address);

	ret = OUR_CALL(rdma_listen(cm_id, backlog));
	if (ret)
		return report_address(listener, "rdma_listen", ret, address);
	return 0;
}

int our_listener_bind(struct our_control *control, struct sockaddr *address, int backlog)
{
	int ret = bind_and_listen(control, control->cm_id, address, backlog);

	if (!ret)
		learn_device(control);
	return ret;
}

int our_listener_bind_also(struct our_control *control, struct sockaddr *address, int backlog)
{
	struct rdma_event_channel *channel = control->cm_id->channel;
	struct rdma_cm_id **cm_id = &our_private(control)->second_cm_id;
	int ret = OUR_CALL(rdma_create_id(channel, cm_id, control, RDMA_PS_TCP));

	if (ret)
		return our_tell_error(control->config, "rdma_create_id", ret, NULL);
	ret = bind_and_listen(control, *cm_id, address, backlog);
	if (ret)
		destroy_id(control, cm_id);
	return ret;
}

int our_report_no_client(const struct our_control *agent, int error)
{
	if (error == ENODEV)
		return our_tell_cm_error(agent, "rdma_accept", error,
					 "the RDMA device was removed");
	if (error == EMSGSIZE)
		return our_tell_error(agent->config, "rdma_accept", error,
				      "at most %d bytes of private data fit", OUR_MOST_TO_ACCEPT);
	if (error == ENOMEM)
		return our_tell_cm_error(agent, "rdma_accept", error, NULL);
	our_tell_cm_error(agent, "rdma_accept", error, "most likely the client has left meanwhile");
	/* If the client has left, librdmacm cannot query the QP's attributes for its id. */
	return error == EINVAL ? ECONNABORTED : error;
}

int our_report_no_requests(const struct our_control *listener, const char *call, int error)
{
	return our_tell_cm_error(listener, call, error, "nobody can connect any more");
}

static int accept_client(struct our_control *control, const void *private_data, size_t length)
{
	struct rdma_conn_param param;

	our_setup_conn_params(control, &param);
	if (length > OUR_MOST_TO_ACCEPT)
		return EMSGSIZE;
	param.private_data = private_data;
	param.private_data_len = (uint8_t)length;
	our_start_cm_call(control);
	return OUR_CALL(rdma_accept(control->cm_id, &param));
}

int our_agent_accept(struct our_control *control, const void *private_data, size_t length)
{
	int ret = set_ack_timeout(control);

	if (ret)
		return ret;
	ret = accept_client(control, private_data, length);
	return ret ? our_report_no_client(control, ret) : 0;
}

int our_agent_connect(struct our_control *control, const void *private_data, size_t length)
{
	int ret;

	if (!our_private(control)->has_channel)
		return our_tell_error(control->config, "our_agent_connect", EINVAL,
				      "an agent on its listener's channel must not wait: "
				      "our_migrate_id comes first");
	ret = set_ack_timeout(control);
	if (ret)
		return ret;
	ret = accept_client(control, private_data, length);
	ret = our_await_cm_event(control, RDMA_CM_EVENT_ESTABLISHED, ret);
	if (ret)
		return our_report_no_client(control, ret);
	return our_finish_connect(control);
}

/* ---- The end ---- */

/* Stops watching the connection. Returns true if it is established, so that it has to be ended. */
static bool begin_disconnect(struct our_control *control)
{
	bool connected = control->connected;

	our_private(control)->leaving = true;
	our_stop_watching(control);
	control->connected = false;
	if (!connected && control->qp && !our_call_is_under_way(control))
		our_flush_qp(control); /* the peer may have it as established already */
	return connected;
}

/*
 * Reports why rdma_disconnect has failed, unless it makes no difference: nothing is connected, the
 * peer no longer answers, or the device has gone (for which librdmacm has one error and the kernel
 * another).
 */
static void report_disconnect(const struct our_control *control, int error)
{
	switch (error) {
	case 0:
	case EINVAL:
	case EINTR:
	case ECONNREFUSED:
	case ECONNRESET:
	case ETIMEDOUT:
	case ENODEV:
	case ENXIO:
		return;
	default:
		our_tell_cm_error(control, "rdma_disconnect", error, NULL);
	}
}

bool our_start_disconnect(struct our_control *control)
{
	bool ended = control->ended, connected = begin_disconnect(control);
	int ret = connected ? OUR_CALL(rdma_disconnect(control->cm_id)) : 0;

	report_disconnect(control, ret);
	our_private(control)->answers = connected && !ret && !ended;
	our_changed(control);
	return our_private(control)->answers;
}

void our_disconnect(struct our_control *control)
{
	int ret;

	if (!control->cm_id)
		return;
	if (begin_disconnect(control)) {
		our_start_cm_call(control);
		ret = OUR_CALL(rdma_disconnect(control->cm_id));
		ret = our_await_cm_event(control, RDMA_CM_EVENT_DISCONNECTED, ret);
		report_disconnect(control, ret);
	}
	our_destroy_qp(control); /* rdma_destroy_qp: before memory is deregistered */
}
