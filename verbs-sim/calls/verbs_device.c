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
	shown->num_comp_vectors = SIM_VECTORS;
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
	SIM_STEP("ibv_free_device_list");
	free(list);
}

EXPORTED const char *ibv_get_device_name(struct ibv_device *dev)
{
	return dev->name;
}

EXPORTED __be64 ibv_get_device_guid(struct ibv_device *dev)
{
	return sim_guid_of(&sim_world->devices[dev - devices]);
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

/*
 * It succeeds whatever is left. The kernel destroys that with its context, which the mapped queues of
 * soft-RoCE and soft-iWARP keep until the process ends.
 */
EXPORTED int ibv_close_device(struct ibv_context *context)
{
	struct user_context *closed = user_context(context);
	int ret = SIM_CALL("ibv_close_device", EBUSY);

	if (ret)
		return -1;
	sim_close_channel(&closed->sim->async);
	free(closed);
	return 0;
}

EXPORTED int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	int ret = SIM_CALL("ibv_query_device", EINVAL, ENOMEM);

	if (!ret)
		sim_query_device(device_of(context), attr);
	return ret;
}

EXPORTED int ibv_fork_init(void)
{
	return SIM_CALL("ibv_fork_init", ENOMEM, EINVAL);
}

/*
 * What the kernel's files of a device say besides: these devices have none. The libraries' headers do
 * not have this call, nor ibv_query_gid_type, but ibv_devinfo makes both.
 */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);
EXPORTED int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	(void)dir, (void)file, (void)buf, (void)size;
	SIM_CALL_OR(-1, "ibv_read_sysfs_file", ENOENT);
	return sim_fail(ENOENT);
}
