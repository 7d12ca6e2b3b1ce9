/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands of uverbs: CQs, and channels of completions. See uverbs.h.
 */
#include <errno.h>

#include "verbs-sim/kernel/uverbs.h"

int uverbs_create_comp_channel(struct uverbs *uverbs, const void *in, void *out)
{
	struct ib_uverbs_create_comp_channel_resp *answer = out;
	struct sim_channel *channel;

	(void)in;
	channel = sim_open_channel(SIM_COMP_CHANNEL, sizeof(*channel), NULL,
				   kernel_is_for_librdmacm());
	if (!channel)
		return errno;
	kernel_open_comp_channel(uverbs, channel);
	answer->fd = (uint32_t)channel->fd;
	return 0;
}

/* soft-RoCE grants as many as its ring has room for. */
static int create_ring(struct sim_cq *cq)
{
	int ret;

	if (sim_traits(cq->context)->iwarp)
		return sim_create_siw_ring(&cq->ring, SIM_SIW_COMPLETION, cq->depth);
	ret = sim_create_ring(&cq->ring, cq->depth, sim_bytes_of_completion());
	if (!ret && !sim_traits(cq->context)->exact)
		cq->depth = sim_slots_of(&cq->ring);
	return ret;
}

/* Without a channel the library says -1. */
static int create_cq(struct uverbs *uverbs, const struct ib_uverbs_ex_create_cq *request,
		     struct sim_cq **cq)
{
	struct sim_channel *channel = kernel_comp_channel_of(uverbs, request->comp_channel);
	uint32_t depth;
	int ret = sim_judge_cq(uverbs->device, request->cqe, request->comp_vector, &depth);

	if (ret || (request->comp_channel >= 0 && !channel))
		return ret ? ret : EBADF;
	*cq = sim_create_cq(uverbs->context, depth, channel,
			    (void *)(uintptr_t)request->user_handle);
	(*cq)->object.hidden = kernel_is_for_librdmacm();
	ret = create_ring(*cq);
	if (ret)
		sim_destroy_cq(*cq);
	else
		kernel_await_locks(&(*cq)->object);
	return ret;
}

static void tell(const struct sim_cq *cq, struct ib_uverbs_create_cq_resp *answer,
		 union uverbs_cq_driver *driver)
{
	answer->cq_handle = cq->object.number;
	answer->cqe = cq->depth;
	if (!sim_traits(cq->context)->iwarp) {
		driver->rxe.mi = uverbs_place_of(&cq->ring);
		return;
	}
	driver->siw.cq_id = cq->object.number;
	driver->siw.num_cqe = sim_slots_of(&cq->ring);
	driver->siw.cq_key = sim_offset_of(&cq->ring);
}

int uverbs_create_cq(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_create_cq *request = in;
	const struct ib_uverbs_ex_create_cq wanted = {
		.user_handle = request->user_handle,
		.cqe = request->cqe,
		.comp_vector = request->comp_vector,
		.comp_channel = request->comp_channel,
	};
	struct uverbs_cq_answer *answer = out;
	struct sim_cq *cq;
	int ret = create_cq(uverbs, &wanted, &cq);

	if (!ret)
		tell(cq, &answer->core, &answer->driver);
	return ret;
}

/* soft-RoCE has no timestamps, and no other flag. */
int uverbs_create_cq_ex(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_ex_create_cq *request = in;
	struct uverbs_cq_ex_answer *answer = out;
	struct sim_cq *cq;
	int ret = request->flags ? EOPNOTSUPP : create_cq(uverbs, request, &cq);

	if (ret)
		return ret;
	tell(cq, &answer->core.base, &answer->driver);
	answer->core.response_length = sizeof(answer->core);
	return 0;
}

/* The library holds the lock of the CQ meanwhile. */
int uverbs_resize_cq(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_resize_cq *request = in;
	struct uverbs_resize_answer *answer = out;
	struct sim_cq *cq = uverbs_find(uverbs, SIM_CQ, request->cq_handle);
	int ret = cq ? sim_judge_resize(cq, request->cqe) : ENOENT;

	if (ret)
		return ret;
	ret = sim_resize_ring(&cq->ring, request->cqe);
	if (ret)
		return ret;
	cq->depth = answer->core.cqe = sim_traits(cq->context)->exact ? request->cqe
								      : sim_slots_of(&cq->ring);
	answer->rxe.mi = uverbs_place_of(&cq->ring);
	return 0;
}

int uverbs_req_notify_cq(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_req_notify_cq *request = in;
	struct sim_cq *cq = uverbs_find(uverbs, SIM_CQ, request->cq_handle);

	(void)out;
	if (!cq)
		return ENOENT;
	if (cq->armed != SIM_ARMED)
		cq->armed = request->solicited_only ? SIM_ARMED_SOLICITED : SIM_ARMED;
	return 0;
}

/* The library waits until the program has acked as many events as it has got. */
int uverbs_destroy_cq(struct uverbs *uverbs, const void *in, void *out)
{
	const struct ib_uverbs_destroy_cq *request = in;
	struct ib_uverbs_destroy_cq_resp *answer = out;
	struct sim_cq *cq = uverbs_find(uverbs, SIM_CQ, request->cq_handle);

	if (!cq || cq->object.users)
		return cq ? EBUSY : ENOENT;
	answer->comp_events_reported = cq->object.reported;
	answer->async_events_reported = cq->object.async_reported;
	kernel_forget_locks(&cq->object);
	sim_destroy_cq(cq);
	return 0;
}
