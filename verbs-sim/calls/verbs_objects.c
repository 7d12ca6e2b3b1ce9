/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibverbs: PDs, MRs, completion channels and CQs.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/descriptors.h"
#include "verbs-sim/calls/verbs.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define REMOTE_RIGHTS (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

/* ---- PDs ---- */

struct ibv_pd *sim_new_pd(struct ibv_context *context, bool hidden)
{
	struct user_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->sim = sim_create_pd(user_context(context)->sim, pd);
	pd->sim->object.hidden = hidden;
	pd->head.context = context;
	pd->head.handle = pd->sim->object.number;
	return &pd->head;
}

EXPORTED struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	SIM_CALL_OR(NULL, "ibv_alloc_pd", ENOMEM, EINVAL);
	if (!sim_has_room(context, SIM_PD, device_of(context)->traits.max_pd))
		return NULL;
	return sim_new_pd(context, false);
}

EXPORTED int ibv_dealloc_pd(struct ibv_pd *pd)
{
	int ret = SIM_CALL("ibv_dealloc_pd", EBUSY, EINVAL);

	if (ret || user_pd(pd)->sim->object.users)
		return ret ? ret : EBUSY;
	sim_destroy_pd(user_pd(pd)->sim);
	free(pd);
	return 0;
}

/* ---- MRs ---- */

/* Whether RLIMIT_MEMLOCK has room for so many bytes more, or the program needs none. */
static bool may_lock(size_t length)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	struct sim_object *object;
	struct rlimit limit;
	uint64_t locked = length;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return true;
	if (!syscall(SYS_capget, &header, data) && data[0].effective & 1u << CAP_IPC_LOCK)
		return true;
	SIM_EACH(object, SIM_MR)
	{
		if (object->program == sim_me->program)
			locked += ((struct sim_mr *)object)->length;
	}
	return locked <= limit.rlim_cur;
}

/* As the kernel asks: who lets others write must be able to write itself. */
static bool is_right(unsigned int access)
{
	return !(access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) ||
	       access & IBV_ACCESS_LOCAL_WRITE;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			     unsigned int access)
{
	struct sim_region region = { (uintptr_t)addr, iova, length, (int)access };
	struct user_mr *mr;

	SIM_CALL_OR(NULL, "ibv_reg_mr", ENOMEM, EINVAL, EACCES);
	if (!is_right(access)) {
		errno = EINVAL;
		return NULL;
	}
	if (!sim_has_room(pd->context, SIM_MR, device_of(pd->context)->traits.max_mr))
		return NULL;
	if (!may_lock(length)) {
		errno = ENOMEM;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	mr->sim = sim_create_mr(user_pd(pd)->sim, mr, &region);
	mr->head = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.addr = addr,
		.length = length,
		.handle = mr->sim->object.number,
		.lkey = mr->sim->key,
		/* soft-RoCE has none for memory that the peer may not access. */
		.rkey = device_of(pd->context)->traits.iwarp || access & REMOTE_RIGHTS
				? mr->sim->key
				: 0,
	};
	return &mr->head;
}

EXPORTED struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return reg_mr(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

EXPORTED struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
					int access)
{
	return reg_mr(pd, addr, length, iova, (unsigned int)access);
}

EXPORTED struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
					 uint64_t iova, unsigned int access)
{
	return reg_mr(pd, addr, length, iova, access & ~(unsigned int)IBV_ACCESS_OPTIONAL_RANGE);
}

EXPORTED int ibv_dereg_mr(struct ibv_mr *mr)
{
	int ret = SIM_CALL("ibv_dereg_mr", EINVAL, EBUSY);

	if (ret)
		return ret;
	sim_check_end(sim_me->program, (uintptr_t)mr->addr, mr->length, "deregistered");
	sim_destroy_mr(((struct user_mr *)mr)->sim);
	free(mr);
	return 0;
}

/* ---- Completion channels ---- */

struct ibv_comp_channel *sim_new_comp_channel(struct ibv_context *context, bool hidden)
{
	struct user_channel *channel = calloc(1, sizeof(*channel));
	int fd = sim_eventfd();

	if (!channel || fd < 0) {
		free(channel);
		return NULL;
	}
	channel->sim =
		sim_create(SIM_COMP_CHANNEL, sizeof(*channel->sim), sim_me->program, channel);
	channel->sim->object.hidden = hidden;
	sim_init_channel(channel->sim, fd);
	sim_add_descriptor(channel->sim);
	channel->head.context = context;
	channel->head.fd = fd;
	return &channel->head;
}

int sim_delete_comp_channel(struct ibv_comp_channel *channel)
{
	struct sim_channel *sim = ((struct user_channel *)channel)->sim;

	if (sim->object.users)
		return EBUSY;
	sim_remove_descriptor(sim);
	sim_destroy_channel(sim);
	sim_close(channel->fd);
	free(channel);
	return 0;
}

EXPORTED struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	SIM_CALL_OR(NULL, "ibv_create_comp_channel", EMFILE, ENOMEM);
	return sim_new_comp_channel(context, false);
}

EXPORTED int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	int ret = SIM_CALL("ibv_destroy_comp_channel", EBUSY);

	return ret ? ret : sim_delete_comp_channel(channel);
}

/* ---- CQs ---- */

struct ibv_cq *sim_new_cq(struct ibv_context *context, int cqe, void *cq_context,
			  struct ibv_comp_channel *channel, bool hidden)
{
	const struct sim_traits *traits = &device_of(context)->traits;
	uint32_t depth = traits->rounds_cq ? sim_round_up((uint32_t)cqe) : (uint32_t)cqe;
	struct user_cq *cq;

	if (cqe < 1 || cqe > traits->max_cqe) {
		errno = EINVAL;
		return NULL;
	}
	if (!sim_has_room(context, SIM_CQ, traits->max_cq))
		return NULL;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	cq->sim = sim_create_cq(user_context(context)->sim, depth,
				channel ? ((struct user_channel *)channel)->sim : NULL, cq);
	cq->sim->object.hidden = hidden;
	cq->head.context = context;
	cq->head.channel = channel;
	cq->head.cq_context = cq_context;
	cq->head.handle = cq->sim->object.number;
	cq->head.cqe = (int)cq->sim->depth;
	return &cq->head;
}

/* Waits until the program has acked the events that it got, as ibv_destroy_cq(3) says. */
int sim_delete_cq(struct ibv_cq *cq)
{
	struct user_cq *deleted = user_cq(cq);

	while (deleted->unacked || deleted->async_unacked)
		sim_block(cq, SIM_FOREVER);
	if (deleted->sim->object.users)
		return EBUSY;
	sim_destroy_cq(deleted->sim);
	free(deleted);
	return 0;
}

EXPORTED struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
				      struct ibv_comp_channel *channel, int comp_vector)
{
	(void)comp_vector;
	SIM_CALL_OR(NULL, "ibv_create_cq", ENOMEM, EINVAL);
	return sim_new_cq(context, cqe, cq_context, channel, false);
}

EXPORTED int ibv_destroy_cq(struct ibv_cq *cq)
{
	int ret = SIM_CALL("ibv_destroy_cq", EBUSY, EINVAL);

	return ret ? ret : sim_delete_cq(cq);
}
