/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management layer: the queue pair of a cm_id. In a file of its own, so that a stage
 * that connects without rdma_cm can replace it. See transfer_posting.h.
 */
#include <errno.h>

#include "common/transfer_posting.h"

int our_make_qp(struct our_control *control, struct ibv_qp_init_attr *attr, const char **call)
{
	*call = "rdma_create_qp";
	if (rdma_create_qp(control->cm_id, control->pd, attr))
		return errno;
	control->qp = control->cm_id->qp;
	return 0;
}

void our_destroy_qp(struct our_control *control)
{
	rdma_destroy_qp(control->cm_id);
	control->qp = NULL;
}
