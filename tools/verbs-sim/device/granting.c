/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Decisions of a device: how much it grants a program, and which requests it refuses. See device.h.
 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "verbs-sim/core/schedule.h"
#include "verbs-sim/device/device.h"

/* Returns the next power of two. */
static uint32_t round_up(uint32_t asked)
{
	uint32_t size = 1;

	while (size < asked)
		size *= 2;
	return size;
}

/* ---- MRs ---- */

uint64_t sim_memory_limit(void)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };

	sim_system(SYS_prlimit64, 0L, (long)RLIMIT_MEMLOCK, 0L, &limit);
	return limit.rlim_cur == sim_world->memory_limit ? RLIM_INFINITY : limit.rlim_cur;
}

/* Returns true if the program may lock `length` more bytes of memory: see sim_memory_limit. */
static bool may_lock(size_t length)
{
	struct sim_object *object;
	uint64_t locked = length;

	SIM_EACH(object, SIM_MR)
	{
		if (object->program == sim_me->program)
			locked += ((struct sim_mr *)object)->region.length;
	}
	return locked <= sim_memory_limit();
}

/* The access flags of Linux 6.1 without IBV_ACCESS_ON_DEMAND, which the drivers do not have. */
#define RIGHTS                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED |     \
	 IBV_ACCESS_HUGETLB)

/* A program that lets others write must be able to write itself. */
static bool is_right(unsigned int access)
{
	return !(access & ~RIGHTS & ~IBV_ACCESS_OPTIONAL_RANGE) &&
	       (!(access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) ||
		access & IBV_ACCESS_LOCAL_WRITE);
}

#define WRITES                                                                         \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC | \
	 IBV_ACCESS_MW_BIND)

int sim_judge_mr(const struct sim_device *device, const struct sim_region *region)
{
	if (!is_right((unsigned int)region->access) || !region->length)
		return EINVAL;
	if (!sim_has_room(device, SIM_MR) || !may_lock(region->length))
		return ENOMEM;
	return sim_is_mapped(region->address, region->length, region->access & WRITES) ? 0 : EFAULT;
}

int sim_judge_mw(const struct sim_device *device, unsigned int type)
{
	if (!device->traits.most[SIM_MW])
		return EOPNOTSUPP;
	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		return EINVAL;
	return sim_has_room(device, SIM_MW) ? 0 : ENOMEM;
}

/* ---- CQs and SRQs ---- */

int sim_judge_cq(const struct sim_device *device, uint32_t cqe, uint32_t vector, uint32_t *depth)
{
	if (!cqe || cqe > (uint32_t)device->traits.attr.max_cqe || vector >= SIM_VECTORS)
		return EINVAL;
	*depth = device->traits.rounds_cq ? round_up(cqe) : cqe;
	return sim_has_room(device, SIM_CQ) ? 0 : ENOMEM;
}

/* Returns true if a posted send counts among the completions of its CQ. */
static bool counts(const struct sim_qp *qp, const struct sim_request *request)
{
	return sim_qp_traits(qp)->sends_at_once && qp->type != IBV_QPT_RC &&
	       (qp->sq_sig_all || request->flags & IBV_SEND_SIGNALED);
}

/* Returns the number of completions that a shrunken CQ must have room for. */
static uint32_t completions_of(const struct sim_cq *cq)
{
	uint32_t n = sim_pending(cq);
	const struct sim_request *request;
	struct sim_object *object;
	struct sim_qp *qp;

	SIM_EACH(object, SIM_QP)
	{
		qp = (struct sim_qp *)object;
		TAILQ_FOREACH(request, &qp->sends, link)
		n += qp->send_cq == cq && counts(qp, request);
	}
	return n;
}

int sim_judge_resize(const struct sim_cq *cq, uint32_t cqe)
{
	const struct sim_traits *traits = sim_traits(cq->context);

	if (traits->iwarp)
		return EOPNOTSUPP;
	return cqe && cqe <= (uint32_t)traits->attr.max_cqe && cqe >= completions_of(cq) ? 0
											 : EINVAL;
}

int sim_judge_srq(const struct sim_device *device, uint32_t *max_wr, uint32_t max_sge)
{
	const struct ibv_device_attr *attr = &device->traits.attr;

	if (!*max_wr || *max_wr > (uint32_t)attr->max_srq_wr || max_sge > (uint32_t)attr->max_sge ||
	    max_sge > (uint32_t)attr->max_srq_sge)
		return EINVAL;
	if (!sim_has_room(device, SIM_SRQ))
		return ENOMEM;
	if (device->traits.rounds_srq) /* soft-RoCE keeps one slot free */
		*max_wr = round_up(*max_wr + 1) - 1;
	return 0;
}

/* ---- QPs ---- */

/* Grants inline data as soft-RoCE does, which puts them in the place of SGEs. */
static void grant_inline(struct ibv_qp_cap *cap, uint32_t piece)
{
	uint32_t pieces = cap->max_inline_data / piece;

	if (cap->max_send_sge < pieces)
		cap->max_send_sge = pieces;
	if (cap->max_inline_data < cap->max_send_sge * piece)
		cap->max_inline_data = cap->max_send_sge * piece;
}

int sim_judge_qp(const struct sim_device *device, enum ibv_qp_type type, struct ibv_qp_cap *cap)
{
	const struct sim_traits *traits = &device->traits;

	if (type != IBV_QPT_RC && (traits->iwarp || (type != IBV_QPT_UC && type != IBV_QPT_UD)))
		return EOPNOTSUPP;
	if (cap->max_send_wr > (uint32_t)traits->attr.max_qp_wr ||
	    cap->max_recv_wr > (uint32_t)traits->attr.max_qp_wr ||
	    cap->max_send_sge > (uint32_t)traits->attr.max_sge ||
	    cap->max_recv_sge > (uint32_t)traits->attr.max_sge ||
	    cap->max_inline_data > traits->max_inline)
		return EINVAL;
	if (traits->inline_piece)
		grant_inline(cap, traits->inline_piece);
	if (traits->rounds_wr) {
		cap->max_send_wr = round_up(cap->max_send_wr);
		cap->max_recv_wr = round_up(cap->max_recv_wr);
	}
	return sim_has_room(device, SIM_QP) ? 0 : ENOMEM;
}
