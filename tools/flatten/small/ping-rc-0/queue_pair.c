/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The states of a QP in a flattened program.
 */
#include <errno.h>

#include "common/device.h"
#include "common/transfer_posting.h"
#include "ping-rc-0/bare.h"
#include "program/report.h"

static const char *advice_for_rtr(int error)
{
	return "to RTR: does the peer's GID fit ours (IPv4 or IPv6), and does its host answer?";
}

int our_create_qp(struct our_control *control)
{
	struct ibv_qp_init_attr attr;
	int ret;

	our_setup_qp_params(control, &attr);
	errno = 0;
	control->qp = ibv_create_qp(control->pd, &attr);
	if (!control->qp && errno == EINVAL) { /* some devices refuse inline data */
		attr.cap.max_inline_data = 0;
		control->qp = ibv_create_qp(control->pd, &attr);
	}
	if (!control->qp)
		return our_report_no_queue(control, "ibv_create_qp", errno);
	control->max_inline = attr.cap.max_inline_data;
	ret = to_init(control); /* from INIT on, receives can be posted */
	if (ret) {
		our_report_error("ibv_modify_qp", ret, "to INIT");
		our_destroy_qp(control);
	}
	return ret;
}
