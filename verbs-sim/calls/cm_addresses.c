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

#define FIRST_PORT 32768
#define LAST_PORT  60999

static bool is_free(const struct sim_endpoint *but, const struct sockaddr_storage *address)
{
	const struct sim_endpoint *other;
	struct sim_object *object;

	SIM_EACH(object, SIM_ENDPOINT)
	{
		other = (const struct sim_endpoint *)object;
		if (other != but && other->bound && other->datagram == but->datagram &&
		    sim_same_address(other, address))
			return false;
	}
	return true;
}

/* Gives the id a port if it has none. Returns 0 or EADDRINUSE. */
static int bind_endpoint(struct user_id *id)
{
	struct sim_endpoint *endpoint = id->sim;
	in_port_t *port = sim_port_of(&endpoint->source);

	if (*port && !is_free(endpoint, &endpoint->source))
		return EADDRINUSE;
	while (!*port) {
		*port = htons((uint16_t)(FIRST_PORT +
					 sim_world->next_port++ % (LAST_PORT - FIRST_PORT + 1)));
		if (!is_free(endpoint, &endpoint->source))
			*port = 0;
	}
	endpoint->bound = true;
	id->head.route.addr.src_storage = endpoint->source;
	return 0;
}

int sim_bind(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct sim_endpoint *endpoint = user_id(id)->sim;
	bool of_device;
	int ret;

	sim_copy_address(&endpoint->source, addr);
	of_device = !sim_is_any(&endpoint->source) && !sim_is_loopback(&endpoint->source);
	if (of_device) {
		endpoint->device = sim_device_at(&endpoint->source, sim_me->program);
		if (!endpoint->device)
			return sim_fail(ENODEV);
	}
	ret = bind_endpoint(user_id(id));
	if (!ret && of_device)
		sim_bind_device(user_id(id));
	return sim_fail(ret);
}

EXPORTED int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	SIM_CALL_OR(-1, "rdma_bind_addr", EADDRINUSE, EADDRNOTAVAIL, ENODEV, EINVAL);
	return sim_bind(id, addr);
}

/*
 * The device by which the id reaches its destination: for a loopback address rdma_cm takes the first
 * one, as measured: on soft-iWARP the address is refused, and on soft-RoCE the route.
 */
static int find_device(struct sim_endpoint *endpoint)
{
	if (!sim_is_loopback(&endpoint->destination)) {
		endpoint->device = sim_device_at(&endpoint->destination, sim_me->program);
		return 0;
	}
	endpoint->device = sim_world->devices;
	return endpoint->device->traits.iwarp ? EINVAL : 0;
}

int sim_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr)
{
	struct sim_endpoint *endpoint = user_id(id)->sim;
	int ret = 0;

	if (!endpoint->bound) {
		sim_copy_address(&endpoint->source, src_addr ? src_addr : dst_addr);
		if (!src_addr)
			*sim_port_of(&endpoint->source) = 0;
		ret = bind_endpoint(user_id(id));
	}
	if (ret)
		return sim_fail(ret);
	sim_copy_address(&endpoint->destination, dst_addr);
	sim_copy_address(&id->route.addr.dst_storage, dst_addr);
	if (!endpoint->device)
		ret = find_device(endpoint);
	if (ret)
		return sim_fail(ret);
	if (!sim_turns_out_otherwise(id))
		sim_tell(endpoint, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	return sim_complete_call(id);
}

EXPORTED int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
			       struct sockaddr *dst_addr, int timeout_ms)
{
	(void)timeout_ms;
	SIM_CALL_OR(-1, "rdma_resolve_addr", EADDRNOTAVAIL, ENODEV, EINVAL, ENETUNREACH);
	return sim_resolve_addr(id, src_addr, dst_addr);
}

/*
 * As cma.c takes the packet life time from the option, and cm_ack_timeout in cm.c makes a timeout of
 * that again, which leaves time for the device's own delay.
 */
static void set_path_timeout(struct sim_endpoint *endpoint)
{
	uint8_t delay = sim_cm_traits(endpoint)->attr.local_ca_ack_delay;
	uint8_t timeout = endpoint->ack_timeout;

	if (!endpoint->has_ack_timeout || !timeout)
		return;
	if (timeout >= delay)
		timeout = (uint8_t)(timeout + (delay >= timeout - 1));
	else
		timeout = (uint8_t)(delay + (timeout >= delay - 1));
	endpoint->path_timeout = timeout < 31 ? timeout : 31;
}

/* An address without a device shows only now: docs/adapters.md. */
int sim_resolve_route(struct rdma_cm_id *id)
{
	const struct sim_endpoint *endpoint = user_id(id)->sim;

	if (!id->verbs ||
	    (sim_is_loopback(&endpoint->destination) && !endpoint->device->ports[0].infiniband))
		return sim_fail(ENODEV);
	set_path_timeout(user_id(id)->sim);
	user_id(id)->sim->routed = true;
	if (!sim_turns_out_otherwise(id))
		sim_tell(user_id(id)->sim, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	return sim_complete_call(id);
}

EXPORTED int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	(void)timeout_ms;
	SIM_CALL_OR(-1, "rdma_resolve_route", EHOSTUNREACH, EINVAL, ETIMEDOUT);
	return sim_resolve_route(id);
}

EXPORTED int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct user_id *listener = user_id(id);
	int ret = SIM_CALL("rdma_listen", EADDRINUSE, EINVAL, ENOMEM);

	if (!ret && !listener->sim->bound)
		ret = bind_endpoint(listener);
	if (ret)
		return sim_fail(ret);
	listener->sim->backlog = backlog > 0 ? (uint32_t)backlog : 1024;
	listener->sim->state = SIM_CM_LISTENING;
	return 0;
}

/* Bytes of the value of an option; 0: there is no such option. */
static size_t length_of_option(int level, int optname)
{
	if (level != RDMA_OPTION_ID)
		return 0;
	switch (optname) {
	case RDMA_OPTION_ID_TOS:
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		return 1;
	case RDMA_OPTION_ID_REUSEADDR:
	case RDMA_OPTION_ID_AFONLY:
		return sizeof(int);
	default:
		return 0;
	}
}

EXPORTED int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval,
			     size_t optlen)
{
	size_t length = length_of_option(level, optname);

	SIM_CALL_OR(-1, "rdma_set_option", ENOSYS, EINVAL);
	if (optlen != length)
		return sim_fail(length ? EINVAL : ENOSYS);
	if (optname == RDMA_OPTION_ID_AFONLY)
		user_id(id)->sim->family_only = *(int *)optval;
	if (optname == RDMA_OPTION_ID_ACK_TIMEOUT) {
		user_id(id)->sim->has_ack_timeout = true;
		user_id(id)->sim->ack_timeout = *(uint8_t *)optval;
	}
	return 0;
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
