/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Queries: GUIDs, GIDs and attributes of a device and its ports. See device.h.
 */
#include <errno.h>

#include "verbs-sim/device/device.h"

/* PortPhysicalState of the InfiniBand specification. */
#define PORT_DISABLED 3
#define PORT_LINK_UP  5

__be64 sim_guid_of(const struct sim_device *device)
{
	return htobe64(0x0200000000000001 + device->number);
}

static int least(int one, int other)
{
	return one < other ? one : other;
}

void sim_query_device(const struct sim_device *device, struct ibv_device_attr *attr)
{
	const int *most = device->traits.most;

	*attr = device->traits.attr;
	attr->node_guid = attr->sys_image_guid = sim_guid_of(device);
	attr->max_qp = most[SIM_QP];
	attr->max_cq = most[SIM_CQ];
	attr->max_mr = most[SIM_MR];
	attr->max_pd = most[SIM_PD];
	attr->max_mw = most[SIM_MW];
	attr->max_ah = most[SIM_AH];
	attr->max_srq = most[SIM_SRQ];
	attr->max_sge_rd = least(attr->max_sge_rd, attr->max_sge);
	attr->max_srq_sge = least(attr->max_srq_sge, attr->max_sge);
	attr->max_qp_init_rd_atom = attr->max_qp_rd_atom;
	attr->phys_port_cnt = (uint8_t)device->n_ports;
}

uint32_t sim_gid_places(const struct sim_device *device, uint32_t port)
{
	uint32_t i, length = (uint32_t)device->traits.port.gid_tbl_len;

	for (i = 0; i < device->n_gids; i++) {
		if (device->gids[i].port == port && device->gids[i].index >= length)
			length = device->gids[i].index + 1;
	}
	return length;
}

enum ibv_port_state sim_port_state(struct sim_host host, uint32_t number)
{
	return sim_find_disturbance(SIM_DOWN, host) ? IBV_PORT_DOWN
						    : host.device->ports[number - 1].state;
}

int sim_query_port(struct sim_host host, uint32_t number, struct ibv_port_attr *attr)
{
	const struct sim_device *device = host.device;
	const struct sim_port *port;

	if (!number || number > device->n_ports)
		return EINVAL;
	port = &device->ports[number - 1];
	*attr = device->traits.port;
	attr->state = sim_port_state(host, number);
	attr->active_mtu = port->mtu;
	attr->gid_tbl_len = (int)sim_gid_places(device, number);
	attr->lid = port->lid;
	attr->phys_state = sim_find_disturbance(SIM_DOWN, host) ? PORT_DISABLED : PORT_LINK_UP;
	attr->link_layer = port->infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
	attr->active_width = 1;
	attr->active_speed = 1;
	return 0;
}
