/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How often and how long a QP waits for its peer: the codes of struct ibv_qp_attr. See rnr.c.
 */
#ifndef VERBS_SIM_DEVICE_RNR_H
#define VERBS_SIM_DEVICE_RNR_H
#include <stdint.h>

#define SIM_RNR_FOREVER   7 /* of rnr_retry */
#define SIM_RETRY_FOREVER 7 /* of retry_cnt, on soft-RoCE */

/* What min_rnr_timer stands for. */
uint64_t sim_rnr_ns(uint8_t code);
#endif
