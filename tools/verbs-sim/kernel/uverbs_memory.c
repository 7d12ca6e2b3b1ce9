/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands of uverbs: PDs, and the objects that need only a PD: MRs, memory windows and AHs. See uverbs.h.
 */
#include <errno.h>
#include <string.h>

#include "verbs-sim/kernel/uverbs.h"
#include "verbs-sim/transfer/transfer.h"

#define KERNEL_PAGE   4096
#define REMOTE_RIGHTS (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

void *kernel_find(enum sim_kind kind, uint32_t handle)
{
	struct sim_object *object = sim_find(kind, handle);

	return object && object->program == sim_me->program ? object : NULL;
}

static const struct sim_context *context_of(enum sim_kind kind, const void *object)
{
	switch (kind) {
	case SIM_PD:
		return ((const struct sim_pd *)object)->context;
	case SIM_CQ:
		return ((const struct sim_cq *)object)->context;
	case SIM_QP:
		return ((const struct sim_qp *)object)->pd->context;
	case SIM_SRQ:
		return ((const struct sim_srq *)object)->pd->context;
	case SIM_MR:
		return ((const struct sim_mr *)object)->pd->context;
	case SIM_MW:
		return ((const struct sim_mw *)object)->pd->context;
	case SIM_AH:
		return ((const struct sim_ah *)object)->pd->context;
	default:
		return NULL;
	}
}

void *uverbs_find(const struct uverbs *uverbs, enum sim_kind kind, uint32_t handle)
{
	void *object = kernel_find(kind, handle);

	return object && context_of(kind, object) == uverbs->context ? object : NULL;
}

bool kernel_is_for_librdmacm(void)
{
	return sim_in_verb && strncmp(sim_me->call, "ibv_", 4);
}

/* ---- PDs ---- */

int uverbs_alloc_pd(struct uverbs *uverbs, const void *in, void *out)
{
	struct ib_uverbs_alloc_pd_resp *answer = out;
	struct sim_pd *pd;

	(void)in;
	if (!sim_has_room(uverbs->device, SIM_PD))
		return ENOMEM;
	pd = sim_create_pd(uverbs->context, NULL);
	pd->object.hidden = kernel_is_for_librdmacm();
	answer->pd_handle = pd->object.number;
	return 0;
}

int uverbs_dealloc_pd(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_dealloc_pd *request = in;
	struct sim_pd *pd = uverbs_find(uverbs, SIM_PD, request->pd_handle);

	(void)out;
	if (!pd || pd->object.users)
		return pd ? EBUSY : ENOENT;
	sim_destroy_pd(pd);
	return 0;
}

/* ---- MRs ---- */

int uverbs_reg_mr(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_reg_mr *request = in;
	struct uverbs_mr_answer *answer = out;
	unsigned int access = request->access_flags & ~(unsigned int)IBV_ACCESS_OPTIONAL_RANGE;
	struct sim_region region = { request->start, request->hca_va, request->length,
				     (int)access };
	struct sim_pd *pd = uverbs_find(uverbs, SIM_PD, request->pd_handle);
	int ret = pd ? sim_judge_mr(uverbs->device, &region) : ENOENT;
	struct sim_mr *mr;

	if (!ret && (request->start ^ request->hca_va) % KERNEL_PAGE)
		ret = EINVAL;
	if (ret)
		return ret;
	mr = sim_create_mr(pd, NULL, &region);
	answer->core.mr_handle = mr->object.number;
	answer->core.lkey = answer->siw.stag = mr->key;
	/* soft-RoCE has no rkey for memory that the peer may not access. */
	if (uverbs->device->traits.iwarp || access & REMOTE_RIGHTS)
		answer->core.rkey = mr->key;
	return 0;
}

int uverbs_dereg_mr(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_dereg_mr *request = in;
	struct sim_mr *mr = uverbs_find(uverbs, SIM_MR, request->mr_handle);

	(void)out;
	if (!mr || mr->object.users) /* soft-RoCE's error if a window is bound to the region */
		return mr ? EINVAL : ENOENT;
	sim_check_end(sim_me->program, mr->region.address, mr->region.length, "deregistered");
	sim_finish_access(sim_me->program);
	sim_destroy_mr(mr);
	return 0;
}

/* ---- Memory windows, which requests bind ---- */

int uverbs_alloc_mw(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_alloc_mw *request = in;
	struct ib_uverbs_alloc_mw_resp *answer = out;
	struct sim_pd *pd = uverbs_find(uverbs, SIM_PD, request->pd_handle);
	int ret = pd ? sim_judge_mw(uverbs->device, request->mw_type) : ENOENT;
	struct sim_mw *mw;

	if (ret)
		return ret;
	mw = sim_create_mw(pd, (enum ibv_mw_type)request->mw_type);
	answer->mw_handle = mw->object.number;
	answer->rkey = mw->key;
	return 0;
}

int uverbs_dealloc_mw(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_dealloc_mw *request = in;
	struct sim_mw *mw = uverbs_find(uverbs, SIM_MW, request->mw_handle);

	(void)out;
	if (!mw)
		return ENOENT;
	sim_finish_access(sim_me->program);
	sim_destroy_mw(mw);
	return 0;
}

/* ---- AHs ---- */

int uverbs_create_ah(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_create_ah *request = in;
	const struct ib_uverbs_ah_attr *attr = &request->attr;
	struct uverbs_ah_answer *answer = out;
	struct ibv_ah_attr path = {
		.dlid = attr->dlid,
		.sl = attr->sl,
		.is_global = attr->is_global,
		.port_num = attr->port_num,
		.grh.sgid_index = attr->grh.sgid_index,
		.grh.hop_limit = attr->grh.hop_limit,
		.grh.flow_label = attr->grh.flow_label,
		.grh.traffic_class = attr->grh.traffic_class,
	};
	struct sim_pd *pd = uverbs_find(uverbs, SIM_PD, request->pd_handle);
	int ret;

	memcpy(&path.grh.dgid, attr->grh.dgid, sizeof(path.grh.dgid));
	if (uverbs->device->traits.iwarp)
		return EOPNOTSUPP;
	ret = pd ? sim_check_path(uverbs_host(uverbs), path.port_num, &path) : ENOENT;
	if (!ret && !sim_has_room(uverbs->device, SIM_AH))
		ret = ENOMEM;
	if (ret)
		return ret;
	answer->core.ah_handle = sim_create_ah(pd, NULL, &path)->object.number;
	answer->rxe.ah_num = answer->core.ah_handle;
	return 0;
}

int uverbs_destroy_ah(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_destroy_ah *request = in;
	struct sim_ah *ah = uverbs_find(uverbs, SIM_AH, request->ah_handle);

	(void)out;
	if (!ah)
		return ENOENT;
	sim_destroy_ah(ah);
	return 0;
}
