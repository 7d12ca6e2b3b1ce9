/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management layer: cm_ids, and what client, listener and agent have in common. See
 * connection_management.h.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "common/private.h"

#define RETRY_COUNT     6 /* three bits, but soft-RoCE takes 7 for "forever" */
#define RNR_RETRY_COUNT 7 /* means "forever" */
#define MOST_RETRIES    7 /* three bits, too */
#define READ_DEPTH      1 /* also for a side that sends no RDMA READs: some devices refuse 0 */

int our_create_id(struct our_control *control)
{
	int ret;

	/* A client that was refused tries again, with a new id: nothing of the last one counts. */
	our_private(control)->leaving = false;
	atomic_store(&our_private(control)->async.error, 0);
	control->connected = control->accepted = control->complete = false;
	control->verbs = NULL;
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

int our_report_address(const struct our_control *control, const char *call, int error,
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

static uint8_t at_most(uint8_t value, int limit)
{
	return value < limit ? value : (uint8_t)limit;
}

/* rdma_connect and rdma_accept refuse more than the device can do. Every device can do one. */
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

/* Never 0 for the first: the first packet that is lost would end the connection. */
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
