/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Objects of the device, from their creation to their end, with the ledger of who needs whom.
 *
 * Contract: a create function always succeeds; its caller has judged what was asked for. A destroy
 * function must not be called while the object has users, other than by sim_end_objects, which goes
 * from those that need others to those that are needed.
 */
#ifndef VERBS_SIM_DEVICE_OBJECTS_H
#define VERBS_SIM_DEVICE_OBJECTS_H
#include "verbs-sim/device/device.h"

struct sim_region {
	uint64_t address, iova, length;
	int access;
};

struct sim_qp_needs {
	struct sim_cq *send_cq, *recv_cq;
	struct sim_srq *srq; /* NULL: receives of its own */
	enum ibv_qp_type type;
	bool sq_sig_all;
	struct ibv_qp_cap cap;
};

struct sim_pd *sim_create_pd(struct sim_context *context, void *user);
struct sim_mr *sim_create_mr(struct sim_pd *pd, void *user, const struct sim_region *region);
struct sim_ah *sim_create_ah(struct sim_pd *pd, void *user, const struct ibv_ah_attr *path);
struct sim_cq *sim_create_cq(struct sim_context *context, uint32_t depth,
			     struct sim_channel *channel, void *user);
struct sim_srq *sim_create_srq(struct sim_pd *pd, uint32_t max, uint32_t max_sge, void *user);
struct sim_qp *sim_create_qp(struct sim_pd *pd, const struct sim_qp_needs *needs, void *user);

void sim_destroy_pd(struct sim_pd *pd);
void sim_destroy_mr(struct sim_mr *mr);
void sim_destroy_ah(struct sim_ah *ah);
void sim_destroy_cq(struct sim_cq *cq);
void sim_destroy_srq(struct sim_srq *srq);
void sim_destroy_qp(struct sim_qp *qp);
void sim_destroy_channel(struct sim_channel *channel);

/* Destroys all that a dead program has left, counts it in program->left, and tells its peers. */
void sim_end_objects(struct sim_program *program);
#endif
