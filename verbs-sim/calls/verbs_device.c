/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibverbs: the device, its contexts, and what it says of itself. There is one device, with one
 * port.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/descriptors.h"
#include "verbs-sim/calls/verbs.h"

#define N_GIDS 4
#undef ibv_query_port

static struct ibv_device device;

static struct ibv_device *the_device(void)
{
	device.node_type = sim_traits()->node_type;
	device.transport_type = sim_traits()->transport_type;
	strcpy(device.name, sim_traits()->name);
	strcpy(device.dev_name, "uverbs0");
	return &device;
}

struct ibv_context *sim_open_context(bool hidden)
{
	struct user_context *context = calloc(1, sizeof(*context));
	int fd = sim_eventfd();

	if (!context || fd < 0) {
		free(context);
		return NULL;
	}
	context->sim = sim_create(SIM_CONTEXT, sizeof(*context->sim), sim_me->program, context);
	context->sim->async.object.hidden = hidden;
	sim_init_channel(&context->sim->async, fd);
	sim_add_descriptor(&context->sim->async);
	context->head.device = the_device();
	context->head.cmd_fd = -1;
	context->head.async_fd = fd;
	context->head.num_comp_vectors = 1;
	sim_install_posting(&context->head.ops);
	return &context->head;
}

EXPORTED struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list;

	SIM_CALL_OR(NULL, "ibv_get_device_list", ENOMEM, ENOSYS, EPERM);
	list = calloc(2, sizeof(*list));
	if (list)
		list[0] = the_device();
	if (num_devices)
		*num_devices = !!list;
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
	(void)dev;
	return htobe64(0x0200000000000001);
}

EXPORTED int ibv_get_device_index(struct ibv_device *dev)
{
	(void)dev;
	return 0;
}

EXPORTED struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	(void)dev;
	SIM_CALL_OR(NULL, "ibv_open_device", ENOMEM, ENODEV, EMFILE);
	return sim_open_context(false);
}

EXPORTED int ibv_close_device(struct ibv_context *context)
{
	struct user_context *closed = user_context(context);
	int ret = SIM_CALL("ibv_close_device", EBUSY);

	if (ret)
		return -1;
	sim_remove_descriptor(&closed->sim->async);
	sim_close(context->async_fd);
	if (closed->sim->async.object.users) {
		errno = EBUSY;
		return -1;
	}
	sim_destroy_channel(&closed->sim->async);
	free(closed);
	return 0;
}

EXPORTED int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	const struct sim_traits *traits = sim_traits();
	int ret = SIM_CALL("ibv_query_device", ENOMEM, EINVAL);

	(void)context;
	if (ret)
		return ret;
	*attr = (struct ibv_device_attr){
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0xfffff000,
		.max_qp = 65536,
		.max_qp_wr = traits->max_qp_wr,
		.max_sge = traits->max_sge,
		.max_sge_rd = traits->max_sge,
		.max_cq = 65536,
		.max_cqe = traits->max_cqe,
		.max_mr = 524288,
		.max_pd = 65536,
		.max_qp_rd_atom = 128,
		.max_qp_init_rd_atom = 128,
		.atomic_cap = sim_world->iwarp ? IBV_ATOMIC_NONE : IBV_ATOMIC_HCA,
		.max_srq = traits->max_srq,
		.max_srq_wr = traits->max_srq_wr,
		.max_srq_sge = traits->max_sge,
		.max_pkeys = 64,
		.phys_port_cnt = 1,
	};
	strcpy(attr->fw_ver, "0.0.0");
	return 0;
}

/*
 * Programs compiled with a newer verbs.h pass the whole structure, as the compiler's version of
 * this call says.
 */
EXPORTED int ibv_query_port(struct ibv_context *context, uint8_t port_num,
			    struct _compat_ibv_port_attr *port_attr)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)port_attr;
	int ret = SIM_CALL("ibv_query_port", EINVAL, ENOMEM);

	(void)context;
	if (ret || port_num != 1)
		return ret ? ret : EINVAL;
	memset(attr, 0, offsetof(struct ibv_port_attr, port_cap_flags2));
	attr->state = IBV_PORT_ACTIVE;
	attr->max_mtu = IBV_MTU_4096;
	attr->active_mtu = IBV_MTU_1024;
	attr->max_msg_sz = sim_traits()->max_message;
	attr->gid_tbl_len = N_GIDS;
	attr->pkey_tbl_len = 1;
	attr->phys_state = 5; /* LinkUp */
	attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	attr->active_width = 1;
	attr->active_speed = 1;
	return 0;
}

/* ---- GIDs: the addresses of the lab's device, as RoCE writes them ---- */

static union ibv_gid gid_of(uint32_t index)
{
	static const char *const addresses[2][N_GIDS] = {
		{ "fe80::1", "::ffff:192.0.2.1", "2001:db8:1::1", "::ffff:127.0.0.1" },
		{ "fe80::2", "::ffff:198.51.100.1", "2001:db8:2::1", "::ffff:127.0.0.1" },
	};
	union ibv_gid gid;

	inet_pton(AF_INET6, addresses[sim_world->iwarp][index], gid.raw);
	return gid;
}

EXPORTED int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
			   union ibv_gid *gid)
{
	(void)context;
	SIM_CALL_OR(-1, "ibv_query_gid", EINVAL, ENOENT);
	if (port_num != 1 || index < 0 || index >= N_GIDS) {
		errno = EINVAL;
		return -1;
	}
	*gid = gid_of((uint32_t)index);
	return 0;
}

static struct ibv_gid_entry entry_of(uint32_t index)
{
	return (struct ibv_gid_entry){
		.gid = gid_of(index),
		.gid_index = index,
		.port_num = 1,
		.gid_type = sim_world->iwarp ? IBV_GID_TYPE_IB : IBV_GID_TYPE_ROCE_V2,
		.ndev_ifindex = 2,
	};
}

EXPORTED int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
			       struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	int ret = SIM_CALL("ibv_query_gid_ex", ENODATA, EINVAL);

	(void)context;
	(void)flags;
	if (ret || port_num != 1 || gid_index >= N_GIDS || entry_size < sizeof(*entry))
		return ret ? ret : EINVAL;
	*entry = entry_of(gid_index);
	return 0;
}

EXPORTED ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
				      size_t max_entries, uint32_t flags, size_t entry_size)
{
	int ret = SIM_CALL("ibv_query_gid_table", EINVAL, ENOMEM);
	uint32_t i;

	(void)context;
	(void)flags;
	if (ret || entry_size != sizeof(*entries))
		return ret ? -ret : -EINVAL;
	for (i = 0; i < N_GIDS && i < max_entries; i++)
		entries[i] = entry_of(i);
	return (ssize_t)i;
}

EXPORTED int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	(void)context;
	SIM_CALL_OR(-1, "ibv_query_pkey", EINVAL);
	if (port_num != 1 || index) {
		errno = EINVAL;
		return -1;
	}
	*pkey = htobe16(0xffff);
	return 0;
}

EXPORTED int ibv_fork_init(void)
{
	return SIM_CALL("ibv_fork_init", ENOMEM, EINVAL);
}
