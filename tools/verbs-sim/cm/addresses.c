/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The addresses of endpoints: ports, devices, and routes. See cm.h.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "verbs-sim/cm/cm.h"
#include "verbs-sim/core/schedule.h"

#define FIRST_PORT 32768
#define LAST_PORT  60999

/* Lists of endpoints, by their ports. */
#define LISTS 1024
LIST_HEAD(sim_endpoints, sim_endpoint);

static struct sim_endpoints *ports_of(const struct sockaddr_storage *address)
{
	if (!sim_world->by_port)
		sim_world->by_port = sim_alloc(LISTS * sizeof(*sim_world->by_port));
	return &sim_world->by_port[*sim_port_of((struct sockaddr_storage *)address) % LISTS];
}

static bool is_free(const struct sim_endpoint *but, const struct sockaddr_storage *address)
{
	const struct sim_endpoint *other;

	LIST_FOREACH(other, ports_of(address), same_port)
	{
		/* cppcheck-suppress uninitvar ; the loop sets it */
		if (other != but && other->datagram == but->datagram &&
		    sim_same_address(other, address))
			return false;
	}
	return true;
}

struct sim_endpoint *sim_find_listener(const struct sim_endpoint *client)
{
	struct sim_endpoint *listener;

	LIST_FOREACH(listener, ports_of(&client->destination), same_port)
	{
		/* cppcheck-suppress uninitvar ; the loop sets it */
		if (listener->state == SIM_CM_LISTENING && listener->datagram == client->datagram &&
		    sim_same_address(listener, &client->destination))
			return listener;
	}
	return NULL;
}

/* Gives the endpoint a port if it has none. Returns 0 or EADDRINUSE. */
static int bind_port(struct sim_endpoint *endpoint)
{
	in_port_t *port = sim_port_of(&endpoint->source);

	if (*port && !is_free(endpoint, &endpoint->source))
		return EADDRINUSE;
	while (!*port) {
		*port = htons((uint16_t)(FIRST_PORT +
					 sim_world->next_port++ % (LAST_PORT - FIRST_PORT + 1)));
		if (!is_free(endpoint, &endpoint->source))
			*port = 0;
	}
	SIM_ASSERT(!endpoint->bound);
	LIST_INSERT_HEAD(ports_of(&endpoint->source), endpoint, same_port);
	endpoint->bound = true;
	return 0;
}

/* Returns true while an id has no address to connect to: then the kernel lets it bind or listen. */
static bool has_no_way(const struct sim_endpoint *endpoint)
{
	return endpoint->state == SIM_CM_IDLE && !endpoint->resolved;
}

int sim_bind_address(struct sim_endpoint *endpoint, const struct sockaddr *address)
{
	int ret;

	if (endpoint->bound || !has_no_way(endpoint))
		return EINVAL;
	sim_copy_address(&endpoint->source, address);
	if (!sim_is_any(&endpoint->source) && !sim_is_loopback(&endpoint->source)) {
		endpoint->device = sim_device_at(&endpoint->source, endpoint->object.program);
		if (!endpoint->device)
			return ENODEV;
	}
	ret = bind_port(endpoint);
	if (ret)
		endpoint->device = NULL;
	return ret;
}

/*
 * Finds the device by which an endpoint reaches its destination. For a loopback address rdma_cm takes
 * the first device, as measured: soft-iWARP then refuses the address, and soft-RoCE the route.
 */
static int find_device(struct sim_endpoint *endpoint)
{
	if (!sim_is_loopback(&endpoint->destination)) {
		endpoint->device = sim_device_at(&endpoint->destination, endpoint->object.program);
		return 0;
	}
	endpoint->device = sim_world->devices->all;
	return endpoint->device->traits.iwarp ? EINVAL : 0;
}

static void tell_resolved(struct sim_endpoint *endpoint)
{
	endpoint->resolved = true;
	sim_tell(endpoint, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
}

int sim_resolve_address(struct sim_endpoint *endpoint, const struct sockaddr *source,
			const struct sockaddr *destination)
{
	int ret = 0;

	if (!has_no_way(endpoint))
		return EINVAL;
	if (!endpoint->bound) {
		sim_copy_address(&endpoint->source, source ? source : destination);
		if (!source)
			*sim_port_of(&endpoint->source) = 0;
		ret = bind_port(endpoint);
	}
	if (ret)
		return ret;
	sim_copy_address(&endpoint->destination, destination);
	if (!endpoint->device)
		ret = find_device(endpoint);
	if (ret)
		return ret;
	/* An id without a device hears of no removal, so it gets one first. */
	if (sim_me->instead && sim_me->instead->value == RDMA_CM_EVENT_DEVICE_REMOVAL)
		tell_resolved(endpoint);
	if (endpoint->device && sim_find_disturbance(SIM_DOWN, sim_host_at(endpoint)))
		return ENETUNREACH;
	if (sim_inject_event(endpoint))
		return 0;
	if (!endpoint->device) /* librdmacm needs a device */
		sim_tell(endpoint, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
	else
		tell_resolved(endpoint);
	return 0;
}

/*
 * The kernel's cma.c makes a packet life time of the option, and cm_ack_timeout in cm.c makes that
 * a timeout again, with time for the device's own delay.
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

int sim_find_route(struct sim_endpoint *endpoint)
{
	if (!endpoint->device ||
	    (sim_is_loopback(&endpoint->destination) && !endpoint->device->ports[0].infiniband))
		return ENODEV;
	if (!endpoint->resolved || endpoint->routed || endpoint->state != SIM_CM_IDLE)
		return EINVAL;
	set_path_timeout(endpoint);
	if (sim_inject_event(endpoint))
		return 0;
	endpoint->routed = true;
	sim_tell(endpoint, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	return 0;
}

/* Returns the bytes of an option's value; 0: there is no such option. */
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

int sim_set_option(struct sim_endpoint *endpoint, int level, int optname, const void *value,
		   size_t bytes)
{
	size_t length = length_of_option(level, optname);

	if (bytes != length)
		return length ? EINVAL : ENOSYS;
	if (optname == RDMA_OPTION_ID_AFONLY)
		endpoint->family_only = *(const int *)value;
	if (optname == RDMA_OPTION_ID_ACK_TIMEOUT) {
		endpoint->has_ack_timeout = true;
		endpoint->ack_timeout = *(const uint8_t *)value;
	}
	return 0;
}

int sim_listen(struct sim_endpoint *endpoint, int backlog)
{
	int ret = has_no_way(endpoint) ? 0 : EINVAL;

	if (!ret && !endpoint->bound)
		ret = bind_port(endpoint);
	if (ret)
		return ret;
	endpoint->backlog = backlog > 0 ? (uint32_t)backlog : 1024;
	endpoint->state = SIM_CM_LISTENING;
	return 0;
}
