/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the limits of the device and the sizes that a queue is given. Contract: as in
 * config; 0 there means more than any other test needs. A call that asks for more fails with
 * EINVAL, as on soft-RoCE and soft-iWARP (docs/drivers.md).
 */
#ifndef FAKE_LIMITS_H
#define FAKE_LIMITS_H

#include "tests/fake/state.h"

void fake_fill_device(struct ibv_device_attr *device);
uint32_t fake_max_message(void);
int fake_check_cqe(int entries); /* 0 or EINVAL */
int fake_check_depths(
	const struct rdma_conn_param *param); /* 0 or EINVAL, as librdmacm checks them */

/*
 * Returns 0 or EINVAL; then `cap` has the sizes that the QP gets, which may be larger than those
 * asked for.
 */
int fake_grant(struct ibv_qp_cap *cap);

/* For messages that find no receive, on InfiniBand and RoCE. */
void fake_note_rnr_timer(struct fake_qp *qp, unsigned int code);
void fake_check_rnr_timer(const struct fake_qp *qp); /* of a QP that is destroyed after its work */

#endif
