/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The queue pair of a cm_id in a flattened program.
 */
#include <errno.h>

#include "common/device.h"
#include "common/transfer_posting.h"

int our_create_qp(struct our_control *control)
{
	struct ibv_qp_init_attr attr;
	bool inlining = true;
	int ret;

	our_setup_qp_params(control, &attr);
	ret = rdma_create_qp(control->cm_id, control->pd, &attr) ? errno : 0;
	if (ret == EINVAL) { /* some devices refuse inline data rather than grant less of it */
		our_setup_qp_params(control, &attr);
		attr.cap.max_inline_data = 0;
		inlining = false;
		ret = rdma_create_qp(control->cm_id, control->pd, &attr) ? errno : 0;
	}
	if (ret)
		return our_report_no_queue(control, "rdma_create_qp", ret);
	control->qp = control->cm_id->qp;
	control->max_inline = inlining ? attr.cap.max_inline_data : 0;
	return 0;
}
