/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices: the limits of a device that programs meet, and what each of them limits. See devices.h.
 */
#include <string.h>

#include "devices/devices.h"

#define ATTR(name) #name, offsetof(struct ibv_device_attr, name)

const struct devices_limit devices_limits[] = {
	{ ATTR(max_qp), "queue pairs, one for each end of a connection, of all programs together" },
	{ ATTR(max_qp_wr), "work requests that may be posted to one queue and not completed yet" },
	{ ATTR(max_sge), "pieces of memory that one send or receive is gathered from" },
	{ ATTR(max_sge_rd), "... and that one RDMA READ is scattered to" },
	{ ATTR(max_cq), "completion queues, of all programs together" },
	{ ATTR(max_cqe), "entries of a completion queue: one for each work request outstanding" },
	{ ATTR(max_pd), "protection domains" },
	{ ATTR(max_mr), "memory regions, of all programs together" },
	{ ATTR(max_mw), "memory windows; 0: there are none" },
	{ ATTR(max_srq), "shared receive queues; 0: there are none" },
	{ ATTR(max_srq_wr), "receives that may be posted to one of them" },
	{ ATTR(max_srq_sge), "pieces of memory of each" },
	{ ATTR(max_qp_rd_atom), "RDMA READs and atomics that a QP answers at a time "
				"(responder_resources)" },
	{ ATTR(max_qp_init_rd_atom), "RDMA READs and atomics that a QP has under way at a time "
				     "(initiator_depth)" },
	{ ATTR(max_ah), "address handles: peers of an unreliable datagram QP" },
	{ ATTR(max_mcast_grp), "multicast groups; 0: there is no multicast" },
	{ 0 },
};

uint64_t devices_limit(const struct devices_device *device, const struct devices_limit *limit)
{
	int value;

	memcpy(&value, (const char *)&device->attr.orig_attr + limit->offset, sizeof(value));
	return value < 0 ? 0 : (uint64_t)value;
}
