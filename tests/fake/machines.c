/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the devices of the machine. See machines.h.
 */
#include <arpa/inet.h>
#include <string.h>

#include "tests/fake/machines.h"

#define DEFAULT_PORT                                     \
	{                                                \
		{ IBV_PORT_ACTIVE, IBV_MTU_1024, 0, 0 }, \
	}
/* The last one is that of RoCE v2 for the address that all sockets have. */
#define DEFAULT_GIDS                                                        \
	{                                                                   \
		{ "fe80::1", 1, 0, IBV_GID_TYPE_ROCE_V2 },                  \
			{ "::ffff:127.0.0.1", 1, 1, IBV_GID_TYPE_ROCE_V1 }, \
			{ "::ffff:127.0.0.1", 1, 2, IBV_GID_TYPE_ROCE_V2 }, \
	}

/* Without config.machine all devices are alike. */
static const struct fake_adapter roce = { "rxe", false, DEFAULT_PORT, DEFAULT_GIDS };
static const struct fake_adapter iwarp = { "siw", true, DEFAULT_PORT, DEFAULT_GIDS };
static const struct fake_way only_way = { .port = 1, .gid_index = 2, .mtu = 1024 };

unsigned int fake_count_adapters(void)
{
	unsigned int n = 0;

	if (!fake_config->machine)
		return 1;
	while (fake_config->machine->adapters[n].name)
		n++;
	return n;
}

const struct fake_adapter *fake_adapter(unsigned int number)
{
	if (fake_config->machine)
		return &fake_config->machine->adapters[number];
	return fake_config->iwarp ? &iwarp : &roce;
}

const struct fake_adapter *fake_adapter_of(const struct ibv_context *context)
{
	unsigned int i = 0;

	while (i + 1 < fake_count_adapters() && fake_get_device(i) != context)
		i++;
	return fake_adapter(i);
}

bool fake_fill_port(const struct ibv_context *context, unsigned int number,
		    struct ibv_port_attr *attr)
{
	const struct fake_port *port;

	if (!number || number > FAKE_MOST_PORTS)
		return false;
	port = &fake_adapter_of(context)->ports[number - 1];
	attr->state = port->state;
	attr->active_mtu = port->mtu;
	attr->lid = port->lid;
	attr->link_layer = port->infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
	return port->state;
}

const struct fake_way *fake_right_way(void)
{
	return fake_config->way.port ? &fake_config->way : &only_way;
}

const struct fake_port *fake_right_port(void)
{
	return &fake_adapter(fake_right_way()->device)->ports[fake_right_way()->port - 1];
}

void fake_right_gid(union ibv_gid *gid)
{
	const struct fake_way *way = fake_right_way();
	const struct fake_gid *its = fake_adapter(way->device)->gids;

	while (its->address && (its->index != way->gid_index || its->port != way->port))
		its++;
	memset(gid, 0, sizeof(*gid));
	if (its->address)
		inet_pton(AF_INET6, its->address, gid->raw);
}
