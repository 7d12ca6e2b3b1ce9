/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace: the calls of libibverbs that programs without a connection manager make: devices,
 * their GIDs, and QPs. Each function makes the call that it replaces, and prints it. See trace.h.
 */
#include <errno.h>

#include <infiniband/verbs.h>

#include "verbs-trace/data_path.h"
#include "verbs-trace/trace.h"

TRACED(ibv_get_device_list);
TRACED(ibv_free_device_list);
TRACED(ibv_open_device);
TRACED(ibv_close_device);
TRACED(_ibv_query_gid_table);
TRACED(ibv_create_qp);
TRACED(ibv_destroy_qp);

/* Of calls that return NULL when they fail; some providers leave errno alone then. */
static int error_of(const void *made)
{
	return made ? 0 : errno ? errno : EIO;
}

struct ibv_device **OURS(ibv_get_device_list)(int *n)
{
	uint64_t since = verbs_trace_now();
	struct ibv_device **devices = REAL(ibv_get_device_list)(n);
	int found = 0;

	while (devices && devices[found])
		found++;
	verbs_trace_call(since, "ibv_get_device_list", error_of(devices), "devices %d", found);
	return devices;
}

void OURS(ibv_free_device_list)(struct ibv_device **devices)
{
	uint64_t since = verbs_trace_now();

	REAL(ibv_free_device_list)(devices);
	verbs_trace_call(since, "ibv_free_device_list", 0, "ok");
}

struct ibv_context *OURS(ibv_open_device)(struct ibv_device *device)
{
	uint64_t since = verbs_trace_now();
	struct ibv_context *context = REAL(ibv_open_device)(device);

	verbs_trace_device(context);
	verbs_trace_call(since, "ibv_open_device", error_of(context), "%s",
			 context ? ibv_get_device_name(device) : "");
	return context;
}

int OURS(ibv_close_device)(struct ibv_context *context)
{
	uint64_t since = verbs_trace_now();
	int ret;

	if (verbs_trace_calls())
		verbs_trace_forget_device(context);
	ret = REAL(ibv_close_device)(context);
	verbs_trace_call(since, "ibv_close_device", ret ? errno : 0, "ok");
	return ret;
}

ssize_t OURS(_ibv_query_gid_table)(struct ibv_context *context, struct ibv_gid_entry *entries,
				   size_t max, uint32_t flags, size_t size)
{
	uint64_t since = verbs_trace_now();
	ssize_t n = REAL(_ibv_query_gid_table)(context, entries, max, flags, size);

	/* It was called by the name of ibv_query_gid_table. */
	verbs_trace_call(since, "ibv_query_gid_table", n < 0 ? (int)-n : 0, "GIDs %zd", n);
	return n;
}

struct ibv_qp *OURS(ibv_create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	uint64_t since = verbs_trace_now();
	struct ibv_qp *qp = REAL(ibv_create_qp)(pd, attr);

	verbs_trace_call(since, "ibv_create_qp", error_of(qp), "QP 0x%x", qp ? qp->qp_num : 0);
	return qp;
}

int OURS(ibv_destroy_qp)(struct ibv_qp *qp)
{
	uint64_t since = verbs_trace_now();
	int ret;

	if (verbs_trace_calls())
		verbs_trace_forget(qp);
	ret = REAL(ibv_destroy_qp)(qp);
	verbs_trace_call(since, "ibv_destroy_qp", ret, "ok");
	return ret;
}
