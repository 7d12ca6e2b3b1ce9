/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The objects of libibverbs as the program has them: in its own memory, so that a sanitizer sees
 * who uses one after its end. Behind each is what the world keeps of it.
 */
#ifndef VERBS_SIM_CALLS_VERBS_H
#define VERBS_SIM_CALLS_VERBS_H
#include "verbs-sim/device/device.h"

struct user_context {
	struct verbs_context head; /* ends in the one that the program has */
	struct sim_context *sim;
};

struct user_pd {
	struct ibv_pd head;
	struct sim_pd *sim;
};

struct user_mr {
	struct ibv_mr head;
	struct sim_mr *sim;
};

struct user_ah {
	struct ibv_ah head;
	struct sim_ah *sim;
};

struct user_channel {
	struct ibv_comp_channel head;
	struct sim_channel *sim;
};

/* Events that the program got and has not acked: until then the object is not destroyed. */
struct user_cq {
	union {
		struct ibv_cq head;
		struct ibv_cq_ex ex; /* of ibv_create_cq_ex; it begins in the same way */
	};
	struct sim_cq *sim;
	uint32_t unacked, async_unacked;
	struct ibv_wc current; /* of ibv_start_poll */
};

struct user_srq {
	struct ibv_srq head;
	struct sim_srq *sim;
	uint32_t async_unacked;
};

struct user_qp {
	union {
		struct ibv_qp head;
		struct ibv_qp_ex ex;
	};
	struct sim_qp *sim;
	uint32_t async_unacked;
	bool extended;                    /* it has the functions of `ex` */
	struct ibv_send_wr *chain, *last; /* since ibv_wr_start */
};

static inline struct user_context *user_context(struct ibv_context *context)
{
	return (struct user_context *)((char *)context - offsetof(struct verbs_context, context));
}

/* The program's object behind one of the libraries. */
#define USER(object, type)                                                 \
	static inline struct user_##object *user_##object(struct type *of) \
	{                                                                  \
		return (struct user_##object *)of;                         \
	}
USER(pd, ibv_pd)
USER(mr, ibv_mr)
USER(ah, ibv_ah)
USER(channel, ibv_comp_channel)
USER(cq, ibv_cq)
USER(qp, ibv_qp)
USER(srq, ibv_srq)

static inline struct sim_device *device_of(struct ibv_context *context)
{
	return user_context(context)->sim->device;
}

/* What ibv_create_qp and the like make. Each returns NULL and errno. */
struct ibv_cq *sim_new_cq(struct ibv_context *context, int cqe, void *cq_context,
			  struct ibv_comp_channel *channel, int vector);
struct ibv_qp *sim_new_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);

/* The functions of a context: verbs_post.c, verbs_poll.c, verbs_extended.c. */
void sim_install_posting(struct ibv_context_ops *ops);
void sim_install_polling(struct verbs_context *context);
void sim_install_extended(struct verbs_context *context);

/* Posts a chain, whole or not at all. Returns 0 or an errno value. */
int sim_post_all(struct ibv_qp *qp, struct ibv_send_wr *chain);
#endif
