/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * librdmacm: the addresses of ids, and what they lead to; rdma_getaddrinfo.
 */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/cm.h"

int sim_bind(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct sim_endpoint *endpoint = user_id(id)->sim;
	int ret = sim_bind_address(endpoint, addr);

	if (ret)
		return sim_fail(ret);
	id->route.addr.src_storage = endpoint->source;
	if (endpoint->device)
		sim_bind_device(user_id(id));
	return 0;
}

EXPORTED int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	SIM_CALL_OR(-1, "rdma_bind_addr", EADDRINUSE, EADDRNOTAVAIL, ENODEV, EINVAL);
	return sim_bind(id, addr);
}

int sim_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr)
{
	struct sim_endpoint *endpoint = user_id(id)->sim;
	int ret = sim_resolve_address(endpoint, src_addr, dst_addr);

	if (ret)
		return sim_fail(ret);
	id->route.addr.src_storage = endpoint->source;
	sim_copy_address(&id->route.addr.dst_storage, dst_addr);
	return sim_complete_call(id);
}

EXPORTED int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
			       struct sockaddr *dst_addr, int timeout_ms)
{
	(void)timeout_ms;
	SIM_CALL_OR(-1, "rdma_resolve_addr", EADDRNOTAVAIL, ENODEV, EINVAL, ENETUNREACH);
	return sim_resolve_addr(id, src_addr, dst_addr);
}

/* An address without a device shows only now: docs/adapters.md. */
int sim_resolve_route(struct rdma_cm_id *id)
{
	int ret = sim_find_route(user_id(id)->sim);

	return ret ? sim_fail(ret) : sim_complete_call(id);
}

EXPORTED int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	(void)timeout_ms;
	SIM_CALL_OR(-1, "rdma_resolve_route", EHOSTUNREACH, EINVAL, ETIMEDOUT);
	return sim_resolve_route(id);
}

EXPORTED int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct sim_endpoint *endpoint = user_id(id)->sim;
	int ret = SIM_CALL("rdma_listen", EADDRINUSE, EINVAL, ENOMEM);

	ret = ret ? ret : sim_listen(endpoint, backlog);
	if (!ret)
		id->route.addr.src_storage = endpoint->source;
	return sim_fail(ret);
}

EXPORTED int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval,
			     size_t optlen)
{
	SIM_CALL_OR(-1, "rdma_set_option", ENOSYS, EINVAL);
	return sim_fail(sim_set_option(user_id(id)->sim, level, optname, optval, optlen));
}

EXPORTED __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return *sim_port_of(&id->route.addr.src_storage);
}

EXPORTED __be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return *sim_port_of(&id->route.addr.dst_storage);
}

/* ---- Names ---- */

/* Copies an address where there is none yet. Returns 0 or an errno value. */
static int copy_address(struct sockaddr **to, socklen_t *length, const void *from, socklen_t size)
{
	if (!size || *length)
		return 0;
	*to = calloc(1, size);
	if (!*to)
		return ENOMEM;
	memcpy(*to, from, size);
	*length = size;
	return 0;
}

static int look_up(const char *node, const char *service, const struct rdma_addrinfo *hints,
		   struct addrinfo **found)
{
	struct addrinfo wanted = { .ai_socktype = SOCK_STREAM,
				   .ai_family = hints ? hints->ai_family : 0 };

	if (hints && hints->ai_flags & RAI_PASSIVE)
		wanted.ai_flags |= AI_PASSIVE;
	if (hints && hints->ai_flags & RAI_NUMERICHOST)
		wanted.ai_flags |= AI_NUMERICHOST;
	return getaddrinfo(node, service, &wanted, found);
}

/* Without a name and a service, the addresses are those of the hints. */
static int find_addresses(const char *node, const char *service, const struct rdma_addrinfo *hints,
			  struct rdma_addrinfo *info)
{
	struct addrinfo *found;
	int ret;

	if (node || service) {
		ret = look_up(node, service, hints, &found);
		if (ret)
			return ret;
		info->ai_family = found->ai_family;
		if (info->ai_flags & RAI_PASSIVE)
			ret = copy_address(&info->ai_src_addr, &info->ai_src_len, found->ai_addr,
					   found->ai_addrlen);
		else
			ret = copy_address(&info->ai_dst_addr, &info->ai_dst_len, found->ai_addr,
					   found->ai_addrlen);
		freeaddrinfo(found);
	} else {
		info->ai_family = hints->ai_family;
		ret = copy_address(&info->ai_dst_addr, &info->ai_dst_len, hints->ai_dst_addr,
				   hints->ai_dst_len);
	}
	if (ret || !hints)
		return ret;
	return copy_address(&info->ai_src_addr, &info->ai_src_len, hints->ai_src_addr,
			    hints->ai_src_len);
}

static void free_info(struct rdma_addrinfo *info)
{
	free(info->ai_src_addr);
	free(info->ai_dst_addr);
	free(info);
}

EXPORTED int rdma_getaddrinfo(const char *node, const char *service,
			      const struct rdma_addrinfo *hints, struct rdma_addrinfo **res)
{
	struct rdma_addrinfo *info;
	int ret;

	SIM_CALL_OR(-1, "rdma_getaddrinfo", ENOMEM, EINVAL);
	if (!node && !service && !hints)
		return sim_fail(EINVAL);
	info = calloc(1, sizeof(*info));
	if (!info)
		return sim_fail(ENOMEM);
	info->ai_flags = hints ? hints->ai_flags : 0;
	info->ai_qp_type = hints && hints->ai_qp_type ? hints->ai_qp_type : IBV_QPT_RC;
	info->ai_port_space = hints && hints->ai_port_space ? hints->ai_port_space : RDMA_PS_TCP;
	ret = find_addresses(node, service, hints, info);
	if (ret)
		free_info(info);
	else
		*res = info;
	return ret;
}

EXPORTED void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	SIM_STEP("rdma_freeaddrinfo");
	free_info(res);
}
