/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibverbs: what a port says of itself, its GIDs and its partition keys.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/verbs.h"

#undef ibv_query_port

/*
 * Programs compiled with a newer verbs.h pass the whole structure, as the compiler's version of
 * this call says.
 */
EXPORTED int ibv_query_port(struct ibv_context *context, uint8_t port_num,
			    struct _compat_ibv_port_attr *port_attr)
{
	int ret = SIM_CALL("ibv_query_port", EINVAL, ENOMEM);
	struct ibv_port_attr attr;

	ret = ret ? ret : sim_query_port(device_of(context), port_num, &attr);
	if (!ret)
		memcpy(port_attr, &attr, offsetof(struct ibv_port_attr, port_cap_flags2));
	return sim_number(ret);
}

/* ---- GIDs ---- */

/* Returns 0, EINVAL if the table has no such place, or ENODATA if it is empty. */
static int find_gid(const struct sim_device *device, uint32_t port, uint32_t index,
		    const struct sim_gid **found)
{
	*found = sim_find_gid(device, port, index);
	if (!port || port > device->n_ports || index >= sim_gid_places(device, port))
		return EINVAL;
	return *found ? 0 : ENODATA;
}

/* An empty place has a GID of zeroes. */
EXPORTED int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
			   union ibv_gid *gid)
{
	const struct sim_gid *found;
	int error;

	SIM_CALL_OR(-1, "ibv_query_gid", EINVAL, ENOENT);
	error = find_gid(device_of(context), port_num, (uint32_t)index, &found);
	if (error == EINVAL)
		return sim_fail(error);
	*gid = found ? found->gid : (union ibv_gid){ 0 };
	sim_number(error);
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
	int ret = SIM_CALL("ibv_query_gid_ex", ENODATA, EINVAL);
	const struct sim_gid *gid;

	(void)flags;
	if (!ret)
		ret = entry_size < sizeof(*entry) ? EINVAL
						  : find_gid(device, port_num, gid_index, &gid);
	if (!ret)
		*entry = entry_of(device, gid);
	return sim_number(ret);
}

/* In no header, but ibv_devinfo calls it: 1 is RoCE v2, and 0 all others. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
		       unsigned int *type);
EXPORTED int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
				unsigned int *type)
{
	const struct sim_gid *found;

	SIM_CALL_OR(-1, "ibv_query_gid_type", EINVAL);
	if (find_gid(device_of(context), port_num, index, &found) == EINVAL)
		return sim_fail(EINVAL);
	*type = found && found->type == IBV_GID_TYPE_ROCE_V2;
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
		return ret ? -abs(ret) : -EINVAL;
	for (i = 0; i < device->n_gids && i < max_entries; i++)
		entries[i] = entry_of(device, &device->gids[i]);
	return (ssize_t)i;
}

/* ---- Partition keys ---- */

#define DEFAULT_PKEY htobe16(0xffff)

/* libibverbs reads them from files of the kernel: what is not there is ENOENT. */
static bool has_pkey(const struct sim_device *device, uint8_t port_num, int index)
{
	return port_num && port_num <= device->n_ports && index >= 0 &&
	       index < device->traits.port.pkey_tbl_len;
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
