/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management layer: the queue pair of a cm_id, for the ways to wait that use rdma_cm.
 * See waiting.h and our_make_qp.
 */
#include <errno.h>

#include "common/waiting.h"

int our_cm_make_qp(struct our_control *control, struct ibv_qp_init_attr *attr, const char **call)
{
	*call = "rdma_create_qp";
	if (rdma_create_qp(control->cm_id, control->pd, attr))
		return errno;
	control->qp = control->cm_id->qp;
	return 0;
}

void our_cm_destroy_qp(struct our_control *control)
{
	rdma_destroy_qp(control->cm_id);
	control->qp = NULL;
}
