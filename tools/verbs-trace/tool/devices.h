/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: verbs that are inline functions of infiniband/verbs.h call through tables
 * of functions in the device's context. When the program or a library opens a device, the functions
 * of the tool are stored there.
 */
#ifndef VERBS_TRACE_TOOL_DEVICES_H
#define VERBS_TRACE_TOOL_DEVICES_H

#include <infiniband/verbs.h>

#include "verbs-trace/tool/call.h"

/* The previous contents of the tables. */
struct device {
	struct ibv_context *_Atomic context;
	struct ibv_context_ops ops;
	struct verbs_context verbs_context;
};

/* Puts our functions into the context's tables, once. Ignores NULL. Any thread. */
void device_opened(struct ibv_context *context);

#define MAX_DEVICES 256 /* open at a time; more are not traced */
extern struct device devices[MAX_DEVICES];
extern _Atomic int n_devices;

/* Returns the row of a context whose tables were changed. Any thread, without a lock. */
const struct device *device_seek(const struct ibv_context *context);

static inline const struct device *device_of(const struct ibv_context *context)
{
	if (devices[0].context == context) /* usually it is the only one */
		return &devices[0];
	return device_seek(context);
}

/* The functions that an extended queue had of its own; no other returned field is valid. */
const struct ibv_qp_ex *extended_qp_ex(const struct ibv_qp_ex *qp);
const struct ibv_cq_ex *extended_cq_ex(const struct ibv_cq_ex *cq);

/* generate.py writes these. */
void install_ops(struct ibv_context_ops *table, struct ibv_context_ops *kept);
void install_verbs_context(struct verbs_context *table, struct verbs_context *kept);
void install_qp_ex(struct ibv_qp_ex *table, struct ibv_qp_ex *kept);
void install_cq_ex(struct ibv_cq_ex *table, struct ibv_cq_ex *kept);

#endif
