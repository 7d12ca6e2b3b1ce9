/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a program does wrong although the device goes along with it: with --strict it is reported,
 * and the run ends with a status of its own.
 *
 * Contract: a check changes nothing that a program can see. What needs a program's memory reads it
 * as a device does.
 */
#ifndef VERBS_SIM_DEVICE_STRICT_H
#define VERBS_SIM_DEVICE_STRICT_H
#include "verbs-sim/device/device.h"

/* A receive of a queue is posted: its memory must not be in another one that is posted there. */
void sim_check_recv(const struct sim_program *program, const struct sim_recv_queue *queue,
		    const struct ibv_sge *sge, int num_sge);

/* A send or WRITE is posted, and completes: its memory must be the same. */
void sim_remember_data(const struct sim_qp *qp, struct sim_request *request);
void sim_check_data(const struct sim_qp *qp, const struct sim_request *request);

/* A READ is posted: over iWARP the peer's device writes what it brings, to an address and a key. */
void sim_check_sink(const struct sim_qp *qp, const struct sim_request *request);

/* A QP is created: its CQs must have room for all that it can have outstanding. */
void sim_check_depth(const struct sim_qp *qp);

/* A QP is about to be connected: a message may arrive at once. */
void sim_check_receives(const struct sim_qp *qp);

/* Memory ends, or its region does: nothing that is posted may need it. `how`: "freed", or so. */
void sim_check_end(const struct sim_program *program, uint64_t address, uint64_t length,
		   const char *how);
#endif
