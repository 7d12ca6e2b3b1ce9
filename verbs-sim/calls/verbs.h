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

static inline struct user_pd *user_pd(struct ibv_pd *pd)
{
	return (struct user_pd *)pd;
}

static inline struct user_ah *user_ah(struct ibv_ah *ah)
{
	return (struct user_ah *)ah;
}

static inline struct user_cq *user_cq(struct ibv_cq *cq)
{
	return (struct user_cq *)cq;
}

static inline struct user_qp *user_qp(struct ibv_qp *qp)
{
	return (struct user_qp *)qp;
}

static inline struct user_srq *user_srq(struct ibv_srq *srq)
{
	return (struct user_srq *)srq;
}

static inline struct sim_device *device_of(struct ibv_context *context)
{
	return user_context(context)->sim->device;
}

/*
 * Whether the device can have one more object of this kind, of which it has `most`, 0: any number.
 * If not, errno is ENOMEM.
 */
bool sim_has_room(struct ibv_context *context, enum sim_kind kind, int most);

/* The next power of two, which some devices grant. */
uint32_t sim_round_up(uint32_t asked);

/* The objects behind the calls that librdmacm makes, too. Each returns NULL and errno. */
struct ibv_pd *sim_new_pd(struct ibv_context *context, bool hidden);
struct ibv_comp_channel *sim_new_comp_channel(struct ibv_context *context, bool hidden);
struct ibv_cq *sim_new_cq(struct ibv_context *context, int cqe, void *cq_context,
			  struct ibv_comp_channel *channel, bool hidden);
struct ibv_srq *sim_new_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
struct ibv_qp *sim_new_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
void sim_delete_qp(struct ibv_qp *qp);
int sim_delete_srq(struct ibv_srq *srq);
int sim_delete_cq(struct ibv_cq *cq);
int sim_delete_comp_channel(struct ibv_comp_channel *channel);

/*
 * A driver checks that an address is complete, and leads out of this host. Returns 0, or EINVAL.
 */
int sim_check_path(const struct sim_device *device, uint32_t port, const struct ibv_ah_attr *path);

/* The functions of a context: verbs_post.c, verbs_poll.c, verbs_extended.c. */
void sim_install_posting(struct ibv_context_ops *ops);
void sim_install_polling(struct verbs_context *context);
void sim_install_extended(struct verbs_context *context);

/* Posts a chain, whole or not at all. Returns 0 or an errno value. */
int sim_post_all(struct ibv_qp *qp, struct ibv_send_wr *chain);
#endif
