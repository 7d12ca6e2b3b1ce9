/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Memory windows: binding and ending them, and access by a peer's key. See device.h.
 *
 * As soft-RoCE does: a window of type 1 may be bound anew at any time, and serves all QPs of its PD; one of
 * type 2 must be free, and serves the QP that has bound it. The driver checks that a window is inside of
 * its region when it is bound, but not that an access is inside of the window: only the region limits it;
 * an adapter checks both.
 */
#include <errno.h>

#include "verbs-sim/device/device.h"

static struct sim_mw *find_mw(const struct sim_program *program, uint32_t key)
{
	struct sim_object *object;

	SIM_EACH(object, SIM_MW)
	{
		if (((struct sim_mw *)object)->key == key && object->program == program)
			return (struct sim_mw *)object;
	}
	return NULL;
}

void sim_unbind_mw(struct sim_mw *mw)
{
	if (mw->mr)
		SIM_COUNT_DOWN(mw->mr->object.users);
	mw->mr = NULL;
}

/* A window of type 1 may be bound to no byte, and then to no region. */
static bool may_bind(const struct sim_qp *qp, const struct sim_mw *mw, const struct sim_mr *mr,
		     const struct sim_binding *binding)
{
	bool zero_based = binding->access & IBV_ACCESS_ZERO_BASED;

	if (mw->type == IBV_MW_TYPE_1 ? zero_based : mw->mr || mw->pd != qp->pd || !mr)
		return false;
	if (!mr)
		return !binding->length;
	if (!(mr->region.access & IBV_ACCESS_MW_BIND) ||
	    (binding->access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	     !(mr->region.access & IBV_ACCESS_LOCAL_WRITE)))
		return false;
	return sim_is_inside(mr, zero_based ? mr->region.iova : binding->address, binding->length);
}

int sim_bind_mw(const struct sim_qp *qp, const struct sim_request *request)
{
	const struct sim_program *program = qp->object.program;
	const struct sim_binding *binding = &request->binding;
	struct sim_mw *mw = find_mw(program, request->rkey);
	struct sim_mr *mr = binding->length ? sim_find_key(program, binding->lkey) : NULL;

	if (!mw || !may_bind(qp, mw, mr, binding))
		return EINVAL;
	sim_unbind_mw(mw);
	mw->key = (mw->key & ~0xffu) | (binding->key & 0xff);
	mw->mr = mr;
	if (mr)
		mr->object.users++;
	mw->access = binding->access;
	mw->address = binding->address;
	mw->length = binding->length;
	mw->qp = qp->object.number;
	mw->base = binding->access & IBV_ACCESS_ZERO_BASED ? binding->address : 0;
	return 0;
}

int sim_invalidate(const struct sim_qp *qp, uint32_t key)
{
	const struct sim_program *program = qp->object.program;
	struct sim_mw *mw = find_mw(program, key);
	struct sim_mr *mr;

	if (sim_is_iwarp(qp)) {
		mr = sim_find_key(program, key);
		if (!mr || mr->pd != qp->pd)
			return EINVAL;
		mr->key = 0;
		return 0;
	}
	if (!mw || mw->type == IBV_MW_TYPE_1)
		return EINVAL;
	sim_unbind_mw(mw);
	return 0;
}

const struct sim_mr *sim_find_remote(const struct sim_qp *qp, uint32_t key, uint64_t *address,
				     uint64_t length, int access)
{
	const struct sim_mw *mw = find_mw(qp->object.program, key);

	if (!mw)
		return sim_find_mr(qp->pd, key, *address, length, access);
	if (!mw->mr || mw->pd != qp->pd || (mw->access & access) != access ||
	    (mw->type == IBV_MW_TYPE_2 && mw->qp != qp->object.number))
		return NULL;
	*address += mw->base;
	if (sim_qp_traits(qp)->limits_windows && (*address < mw->address || length > mw->length ||
						  *address - mw->address > mw->length - length))
		return NULL;
	return sim_is_inside(mw->mr, *address, length) ? mw->mr : NULL;
}
