/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibverbs: the devices, their contexts, and what each says of itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"
#include "verbs-sim/calls/verbs.h"

#undef ibv_query_port

static struct ibv_device devices[SIM_MOST_DEVICES];

static struct ibv_device *device_for_program(uint32_t number)
{
	const struct sim_device *device = &sim_world->devices[number];
	struct ibv_device *shown = &devices[number];
	bool iwarp = device->traits.iwarp;

	shown->node_type = iwarp ? IBV_NODE_RNIC : IBV_NODE_CA;
	shown->transport_type = iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
	strcpy(shown->name, device->name);
	snprintf(shown->dev_name, sizeof(shown->dev_name), "uverbs%u", number);
	return shown;
}

/* As ibv_open_device makes them. Returns NULL and errno. */
static struct ibv_context *open_context(struct sim_device *device)
{
	struct user_context *context = calloc(1, sizeof(*context));
	struct ibv_context *shown;

	if (!context)
		return NULL;
	context->sim = sim_open_channel(SIM_CONTEXT, sizeof(*context->sim), context, sim_inside);
	if (!context->sim) {
		free(context);
		return NULL;
	}
	context->sim->device = device;
	shown = &context->head.context;
	shown->device = device_for_program(device->number);
	shown->cmd_fd = -1;
	shown->async_fd = context->sim->async.fd;
	shown->num_comp_vectors = 1;
	shown->abi_compat = __VERBS_ABI_IS_EXTENDED;
	context->head.sz = sizeof(context->head);
	sim_install_posting(&shown->ops);
	sim_install_polling(&context->head);
	sim_install_extended(&context->head);
	sim_simulate_tsc();
	sim_interrupt_spinning();
	return shown;
}

EXPORTED struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list;
	uint32_t i;

	SIM_CALL_OR(NULL, "ibv_get_device_list", ENOMEM, ENOSYS, EPERM);
	list = calloc(sim_world->n_devices + 1, sizeof(*list));
	for (i = 0; list && i < sim_world->n_devices; i++)
		list[i] = device_for_program(i);
	if (num_devices)
		*num_devices = list ? (int)sim_world->n_devices : 0;
	return list;
}

EXPORTED void ibv_free_device_list(struct ibv_device **list)
{
	sim_step("ibv_free_device_list");
	free(list);
}

EXPORTED const char *ibv_get_device_name(struct ibv_device *dev)
{
	return dev->name;
}

EXPORTED __be64 ibv_get_device_guid(struct ibv_device *dev)
{
	return htobe64(0x0200000000000001 + (uint64_t)(dev - devices));
}

EXPORTED int ibv_get_device_index(struct ibv_device *dev)
{
	return (int)(dev - devices);
}

EXPORTED struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	SIM_CALL_OR(NULL, "ibv_open_device", ENOMEM, ENODEV, EMFILE);
	return open_context(&sim_world->devices[dev - devices]);
}

EXPORTED int ibv_close_device(struct ibv_context *context)
{
	struct user_context *closed = user_context(context);
	int ret = SIM_CALL("ibv_close_device", EBUSY);

	if (ret)
		return -1;
	if (closed->sim->async.object.users)
		return sim_fail(EBUSY);
	sim_close_channel(&closed->sim->async);
	free(closed);
	return 0;
}

static int limit(int most, int usual)
{
	return most ? most : usual;
}

EXPORTED int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	const struct sim_traits *traits = &device_of(context)->traits;
	int ret = SIM_CALL("ibv_query_device", EINVAL, ENOMEM);

	if (ret)
		return ret;
	*attr = (struct ibv_device_attr){
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0xfffff000,
		.max_qp = limit(traits->most[SIM_QP], 65536),
		.max_qp_wr = traits->max_qp_wr,
		.max_sge = traits->max_sge,
		.max_sge_rd = traits->max_sge,
		.max_cq = limit(traits->most[SIM_CQ], 65536),
		.max_cqe = traits->max_cqe,
		.max_mr = limit(traits->most[SIM_MR], 524288),
		.max_pd = limit(traits->most[SIM_PD], 65536),
		.max_qp_rd_atom = traits->max_rd_atom,
		.max_qp_init_rd_atom = traits->max_rd_atom,
		.atomic_cap = traits->iwarp ? IBV_ATOMIC_NONE : IBV_ATOMIC_HCA,
		.max_srq = traits->most[SIM_SRQ],
		.max_srq_wr = traits->max_srq_wr,
		.max_srq_sge = traits->max_sge,
		.max_pkeys = traits->iwarp ? 0 : 64,
		.phys_port_cnt = (uint8_t)device_of(context)->n_ports,
	};
	strcpy(attr->fw_ver, "0.0.0");
	return 0;
}

static uint32_t count_gids(const struct sim_device *device, uint32_t port)
{
	uint32_t i, length = 0;

	for (i = 0; i < device->n_gids; i++) {
		if (device->gids[i].port == port && device->gids[i].index >= length)
			length = device->gids[i].index + 1;
	}
	return length;
}

/* soft-RoCE's ports have the default partition key; soft-iWARP has no partitions. */
static uint16_t count_pkeys(const struct sim_device *device)
{
	return device->traits.iwarp ? 0 : 1;
}

/*
 * Programs compiled with a newer verbs.h pass the whole structure, as the compiler's version of
 * this call says.
 */
EXPORTED int ibv_query_port(struct ibv_context *context, uint8_t port_num,
			    struct _compat_ibv_port_attr *port_attr)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)port_attr;
	const struct sim_device *device = device_of(context);
	int ret = SIM_CALL("ibv_query_port", EINVAL, ENOMEM);
	const struct sim_port *port;

	if (ret || !port_num || port_num > device->n_ports)
		return ret ? ret : EINVAL;
	port = &device->ports[port_num - 1];
	memset(attr, 0, offsetof(struct ibv_port_attr, port_cap_flags2));
	attr->state = port->state;
	attr->max_mtu = port->mtu > IBV_MTU_4096 ? port->mtu : IBV_MTU_4096;
	attr->active_mtu = port->mtu;
	attr->max_msg_sz = device->traits.max_message;
	attr->gid_tbl_len = (int)count_gids(device, port_num);
	attr->pkey_tbl_len = count_pkeys(device);
	attr->lid = port->lid;
	attr->phys_state = 5; /* LinkUp */
	attr->link_layer = port->infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
	attr->active_width = 1;
	attr->active_speed = 1;
	return 0;
}

/* ---- GIDs ---- */

EXPORTED int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
			   union ibv_gid *gid)
{
	const struct sim_gid *found = sim_find_gid(device_of(context), port_num, (uint32_t)index);

	SIM_CALL_OR(-1, "ibv_query_gid", EINVAL, ENOENT);
	if (!found)
		return sim_fail(EINVAL);
	*gid = found->gid;
	return 0;
}

static struct ibv_gid_entry entry_of(const struct sim_device *device, const struct sim_gid *gid)
{
	return (struct ibv_gid_entry){
		.gid = gid->gid,
		.gid_index = gid->index,
		.port_num = gid->port,
		.gid_type = gid->type,
		.ndev_ifindex = 2 + device->number,
	};
}

EXPORTED int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
			       struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	const struct sim_device *device = device_of(context);
	const struct sim_gid *gid = sim_find_gid(device, port_num, gid_index);
	int ret = SIM_CALL("ibv_query_gid_ex", ENODATA, EINVAL);

	(void)flags;
	if (ret || !gid || entry_size < sizeof(*entry))
		return ret ? ret : ENODATA;
	*entry = entry_of(device, gid);
	return 0;
}

EXPORTED ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
				      size_t max_entries, uint32_t flags, size_t entry_size)
{
	const struct sim_device *device = device_of(context);
	int ret = SIM_CALL("ibv_query_gid_table", EINVAL, ENOMEM);
	uint32_t i;

	(void)flags;
	if (ret || entry_size != sizeof(*entries))
		return ret ? -ret : -EINVAL;
	for (i = 0; i < device->n_gids && i < max_entries; i++)
		entries[i] = entry_of(device, &device->gids[i]);
	return (ssize_t)i;
}

/* ---- Partition keys ---- */

#define DEFAULT_PKEY htobe16(0xffff)

/* libibverbs reads them from files of the kernel: what is not there is ENOENT. */
static bool has_pkey(const struct sim_device *device, uint8_t port_num, int index)
{
	return port_num && port_num <= device->n_ports && index >= 0 && index < count_pkeys(device);
}

EXPORTED int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	SIM_CALL_OR(-1, "ibv_query_pkey", ENOENT);
	if (!has_pkey(device_of(context), port_num, index))
		return sim_fail(ENOENT);
	*pkey = DEFAULT_PKEY;
	return 0;
}

EXPORTED int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	SIM_CALL_OR(-1, "ibv_get_pkey_index", ENOENT);
	if (!has_pkey(device_of(context), port_num, 0) || pkey != DEFAULT_PKEY)
		return sim_fail(ENOENT);
	return 0;
}

EXPORTED int ibv_fork_init(void)
{
	return SIM_CALL("ibv_fork_init", ENOMEM, EINVAL);
}
