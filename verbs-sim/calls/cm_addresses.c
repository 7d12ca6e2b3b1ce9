/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * librdmacm: the addresses of ids, and the devices behind them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/cm.h"

#define FIRST_PORT 32768
#define LAST_PORT  60999

/* librdmacm opens each device once for all ids of a process. */
static struct ibv_context *contexts[SIM_MOST_DEVICES];

void sim_copy_address(struct sockaddr_storage *to, const struct sockaddr *from)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from,
	       from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					   : sizeof(struct sockaddr_in));
}

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

static bool is_any(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)address)->sin6_addr);
	return ((const struct sockaddr_in *)address)->sin_addr.s_addr == htonl(INADDR_ANY);
}

/* NULL: the system has no descriptor left. */
static struct ibv_context *open_device(uint32_t number)
{
	struct ibv_device **list = SIM_INSIDE(ibv_get_device_list(NULL));
	struct ibv_context *context = list ? SIM_INSIDE(ibv_open_device(list[number])) : NULL;

	free(list);
	return context;
}

struct ibv_context *sim_context_of_library(struct sim_device *device)
{
	struct ibv_context **context = &contexts[device->number];

	if (!*context)
		*context = open_device(device->number);
	if (!*context)
		sim_give_up(SIM_VERDICT_BROKEN, "no descriptor for the device");
	return *context;
}

void sim_bind_device(struct user_id *id)
{
	if (id->sim->device) {
		id->head.verbs = sim_context_of_library(id->sim->device);
		id->head.port_num = 1;
	}
	id->head.route.addr.src_storage = id->sim->source;
	id->head.route.addr.dst_storage = id->sim->destination;
}

static int fail(int error)
{
	errno = error;
	return error ? -1 : 0;
}

int sim_bind(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct sim_endpoint *endpoint = user_id(id)->sim;
	int ret;

	sim_copy_address(&endpoint->source, addr);
	if (!is_any(addr)) {
		endpoint->device = sim_device_at(&endpoint->source, sim_me->program);
		if (!endpoint->device)
			return fail(ENODEV);
	}
	ret = bind_endpoint(user_id(id));
	if (!ret && !is_any(addr))
		sim_bind_device(user_id(id));
	return fail(ret);
}

EXPORTED int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	SIM_CALL_OR(-1, "rdma_bind_addr", EADDRINUSE, EADDRNOTAVAIL, ENODEV, EINVAL);
	return sim_bind(id, addr);
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
		return fail(ret);
	sim_copy_address(&endpoint->destination, dst_addr);
	sim_copy_address(&id->route.addr.dst_storage, dst_addr);
	if (!endpoint->device)
		endpoint->device = sim_device_at(&endpoint->destination, sim_me->program);
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

/* An address without a device shows only now: docs/adapters.md. */
int sim_resolve_route(struct rdma_cm_id *id)
{
	if (!id->verbs)
		return fail(ENODEV);
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
		return fail(ret);
	listener->sim->backlog = backlog > 0 ? (uint32_t)backlog : 1024;
	listener->sim->state = SIM_CM_LISTENING;
	return 0;
}

EXPORTED int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval,
			     size_t optlen)
{
	SIM_CALL_OR(-1, "rdma_set_option", ENOSYS, EINVAL);
	if (level == RDMA_OPTION_ID && optname == RDMA_OPTION_ID_AFONLY && optlen == sizeof(int))
		user_id(id)->sim->family_only = *(int *)optval;
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
