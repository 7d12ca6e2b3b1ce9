/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands of the connection manager: ids, their addresses and routes. See ucma.h.
 */
#include <errno.h>
#include <string.h>

#include "verbs-sim/kernel/ucma.h"

/*
 * librdmacm asks for RDMA_PS_IB by itself, not for a call of the program. From the error it learns
 * that there is no AF_IB, and uses no command that came with AF_IB.
 */
int ucma_create_id(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_create_id *request = in;
	struct rdma_ucm_create_id_resp *answer = out;
	struct sim_endpoint *endpoint;

	if (request->ps == RDMA_PS_IB)
		return EINVAL;
	if (request->ps != RDMA_PS_TCP && request->ps != RDMA_PS_UDP)
		return EINVAL;
	if (!sim_has_memory(sizeof(*endpoint)))
		return ENOMEM;
	endpoint = sim_create_endpoint(sim_me->program, ucma->channel,
				       (void *)(uintptr_t)request->uid);
	endpoint->datagram = request->ps == RDMA_PS_UDP;
	answer->id = endpoint->object.number;
	return 0;
}

/* The library waits until the program has acked as many events as it has got. */
int ucma_destroy_id(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_destroy_id *request = in;
	struct rdma_ucm_destroy_id_resp *answer = out;
	struct sim_endpoint *endpoint;
	int ret = ucma_find(ucma, request->id, &endpoint);

	if (ret)
		return ret;
	answer->events_reported = endpoint->object.reported;
	ucma_destroy_groups(request->id);
	sim_destroy_endpoint(endpoint);
	return 0;
}

/* The library writes this command to the new channel. */
int ucma_migrate_id(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_migrate_id *request = in;
	struct rdma_ucm_migrate_resp *answer = out;
	struct sim_endpoint *endpoint = kernel_find(SIM_ENDPOINT, request->id);

	if (!endpoint)
		return ENOENT;
	sim_move_endpoint(endpoint, ucma->channel);
	answer->events_reported = endpoint->object.reported;
	return 0;
}

/* ---- Addresses ---- */

int ucma_bind_ip(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_bind_ip *request = in;
	struct sim_endpoint *endpoint;
	int ret = ucma_find(ucma, request->id, &endpoint);

	(void)out;
	if (ret)
		return ret;
	return sim_bind_address(endpoint, (const struct sockaddr *)&request->addr);
}

int ucma_resolve_ip(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_resolve_ip *request = in;
	const struct sockaddr *source = (const struct sockaddr *)&request->src_addr;
	struct sim_endpoint *endpoint;
	int ret = ucma_find(ucma, request->id, &endpoint);

	(void)out;
	if (ret)
		return ret;
	return sim_resolve_address(endpoint, source->sa_family ? source : NULL,
				   (const struct sockaddr *)&request->dst_addr);
}

int ucma_resolve_route(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_resolve_route *request = in;
	struct sim_endpoint *endpoint;
	int ret = ucma_find(ucma, request->id, &endpoint);

	(void)out;
	if (ret)
		return ret;
	return sim_find_route(endpoint);
}

static void tell_path(const struct sim_endpoint *endpoint, struct ib_user_path_rec *path)
{
	const union ibv_gid from = sim_gid_of(&endpoint->source);
	const union ibv_gid to = sim_gid_of(&endpoint->destination);

	memcpy(path->sgid, &from, sizeof(from));
	memcpy(path->dgid, &to, sizeof(to));
	path->pkey = htobe16(0xffff);
	path->mtu = IBV_MTU_1024;
	path->hop_limit = 64;
}

/* The library asks after each call and event that may have given an id a device, or a route. */
int ucma_query_route(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_query *request = in;
	struct rdma_ucm_query_route_resp *answer = out;
	struct sim_endpoint *endpoint;
	int ret = ucma_find(ucma, request->id, &endpoint);

	if (ret)
		return ret;
	memcpy(&answer->src_addr, &endpoint->source, sizeof(answer->src_addr));
	memcpy(&answer->dst_addr, &endpoint->destination, sizeof(answer->dst_addr));
	if (!endpoint->device)
		return 0;
	answer->node_guid = sim_guid_of(endpoint->device);
	answer->ibdev_index = endpoint->device->number;
	answer->port_num = 1;
	answer->num_paths = endpoint->routed || endpoint->state == SIM_CM_REQUESTED;
	if (answer->num_paths)
		tell_path(endpoint, &answer->ib_route[0]);
	return 0;
}

int ucma_listen(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_listen *request = in;
	struct sim_endpoint *endpoint;
	int ret = ucma_find(ucma, request->id, &endpoint);

	(void)out;
	if (ret)
		return ret;
	return sim_listen(endpoint, (int)request->backlog);
}

int ucma_set_option(struct ucma *ucma, const void *in, void *out)
{
	const struct rdma_ucm_set_option *request = in;
	struct sim_endpoint *endpoint;
	int ret = ucma_find(ucma, request->id, &endpoint);

	(void)out;
	if (ret)
		return ret;
	return sim_set_option(endpoint, (int)request->level, (int)request->optname,
			      (const void *)(uintptr_t)request->optval, request->optlen);
}
