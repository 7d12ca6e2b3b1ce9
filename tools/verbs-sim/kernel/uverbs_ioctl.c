/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands of uverbs that the library sends by ioctl(2) only: the table of GIDs. See uverbs.h.
 *
 * It sends all commands in that way first. Commands that are not here end in EPROTONOSUPPORT, from
 * which the library learns that it must write them.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string.h>

#include "verbs-sim/kernel/uverbs.h"

/* Returns the attribute of a request with this number; NULL: it has none. */
static const struct ib_uverbs_attr *find(const struct ib_uverbs_ioctl_hdr *request, uint16_t id)
{
	uint16_t i;

	for (i = 0; i < request->num_attrs; i++) {
		if (request->attrs[i].attr_id == id)
			return &request->attrs[i];
	}
	return NULL;
}

/* Returns a number of the request, which is in the attribute itself; 0: it has none. */
static uint64_t number(const struct ib_uverbs_ioctl_hdr *request, uint16_t id)
{
	const struct ib_uverbs_attr *attr = find(request, id);

	return attr ? attr->data : 0;
}

static struct ib_uverbs_gid_entry entry_of(const struct sim_gid *gid)
{
	struct ib_uverbs_gid_entry entry = {
		.gid_index = gid->index,
		.port_num = gid->port,
		.gid_type = gid->type,
		.netdev_ifindex = 1,
	};

	memcpy(entry.gid, &gid->gid, sizeof(entry.gid));
	return entry;
}

static int query_gid_entry(const struct uverbs *uverbs, const struct ib_uverbs_ioctl_hdr *request)
{
	const struct sim_device *device = uverbs->device;
	uint32_t port = (uint32_t)number(request, UVERBS_ATTR_QUERY_GID_ENTRY_PORT);
	uint32_t index = (uint32_t)number(request, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
	const struct ib_uverbs_attr *to = find(request, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY);
	struct ib_uverbs_gid_entry entry;
	const struct sim_gid *gid;

	if (!to || !port || port > device->n_ports ||
	    number(request, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS))
		return EINVAL;
	if (index >= sim_gid_places(device, port))
		return EINVAL;
	gid = sim_find_gid(uverbs_host(uverbs), port, index);
	if (!gid)
		return ENODATA;
	entry = entry_of(gid);
	memcpy((void *)(uintptr_t)to->data, &entry,
	       to->len < sizeof(entry) ? to->len : sizeof(entry));
	return 0;
}

/* Returns all GIDs that are not empty, in the order of ports and places. */
static int query_gid_table(const struct uverbs *uverbs, const struct ib_uverbs_ioctl_hdr *request)
{
	const struct sim_device *device = uverbs->device;
	const struct ib_uverbs_attr *to = find(request, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	const struct ib_uverbs_attr *count =
		find(request, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES);
	size_t size = number(request, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
	struct ib_uverbs_gid_entry entry;
	const struct sim_gid *gid;
	uint32_t port, index;
	uint64_t n = 0;

	if (!to || !count || size < sizeof(entry) ||
	    number(request, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS))
		return EINVAL;
	for (port = 1; port <= device->n_ports; port++) {
		for (index = 0; index < sim_gid_places(device, port); index++) {
			gid = sim_find_gid(uverbs_host(uverbs), port, index);
			if (!gid)
				continue;
			if ((n + 1) * size > to->len)
				return EINVAL;
			entry = entry_of(gid);
			memcpy((char *)(uintptr_t)to->data + n++ * size, &entry, sizeof(entry));
		}
	}
	memcpy((void *)(uintptr_t)count->data, &n, sizeof(n));
	return 0;
}

int uverbs_ioctl(const struct uverbs *uverbs, const struct ib_uverbs_ioctl_hdr *request)
{
	static const int ways[] = { EINVAL, 0 };
	int ret = EPROTONOSUPPORT;

	if (request->object_id != UVERBS_OBJECT_DEVICE || !uverbs->context)
		return ret;
	if (request->method_id == UVERBS_METHOD_QUERY_GID_ENTRY) {
		ret = sim_enter(SIM_NAME("QUERY_GID_ENTRY"), ways);
		ret = ret ? ret : query_gid_entry(uverbs, request);
	} else if (request->method_id == UVERBS_METHOD_QUERY_GID_TABLE) {
		ret = sim_enter(SIM_NAME("QUERY_GID_TABLE"), ways);
		ret = ret ? ret : query_gid_table(uverbs, request);
	}
	return ret;
}
