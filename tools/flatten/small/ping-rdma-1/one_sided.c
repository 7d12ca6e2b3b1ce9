/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Whether a flattened program may READ.
 */
#include <errno.h>

#include "common/device.h"
#include "ping-rdma-1/one_sided.h"
#include "program/report.h"

/* If the peer has agreed to none, a READ never completes. soft-iWARP swaps the two depths. */
int our_learn_read_depth(struct our_control *control)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;
	int ret;

	ret = ibv_query_qp(control->qp, &attr, IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC,
			   &init_attr);
	if (ret)
		return our_report_error("ibv_query_qp", ret, NULL);
	if (attr.max_rd_atomic || (our_is_iwarp(control) && attr.max_dest_rd_atomic))
		return 0;
	our_report_sentence("the peer agreed to no READs: let it set responder_resources");
	return EPROTO;
}
