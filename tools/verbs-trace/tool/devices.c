/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the devices that are open, and extended queues. See devices.h.
 */
#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/guard.h"

struct device devices[MAX_DEVICES]; /* a row is used again only for the same context */
_Atomic int n_devices;

const struct device *device_seek(const struct ibv_context *context)
{
	int i, n = n_devices;

	for (i = 0; i < n; i++) {
		if (devices[i].context == context)
			return &devices[i];
	}
	return NULL;
}

void device_opened(struct ibv_context *context)
{
	struct verbs_context *more;
	struct device *device;

	if (!context)
		return;
	guard_lock(GUARD_DEVICES);
	device = (struct device *)device_of(context);
	if (!device && n_devices < MAX_DEVICES)
		device = &devices[n_devices];
	if (device) {
		install_ops(&context->ops, &device->ops);
		more = verbs_get_ctx(context);
		if (more)
			install_verbs_context(more, &device->verbs_context);
		device->context = context;
		if (device == &devices[n_devices])
			n_devices++;
	}
	guard_unlock(GUARD_DEVICES);
}

/* ---- Extended queues ---- */

const struct ibv_qp_ex *extended_qp_ex(const struct ibv_qp_ex *qp)
{
	return object_of(KIND_QP, qp)->functions;
}

const struct ibv_cq_ex *extended_cq_ex(const struct ibv_cq_ex *cq)
{
	return object_of(KIND_CQ, cq)->functions;
}
