/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The common part of the functions that stand before the libraries' own: each sees a call of the
 * program, makes it fail if --fail names it, and otherwise calls the library. wrappers.py writes them.
 *
 * Contract: they see only calls of the program itself, not those by which a library carries one out.
 * Most calls are not counted; the commands that they give the kernel are. A call that moves data, such
 * as a post or a poll, is counted, and its commands are not, because some of these calls give none.
 */
#ifndef VERBS_SIM_CALLS_VERB_H
#define VERBS_SIM_CALLS_VERB_H
#include <infiniband/verbs.h>

#include "verbs-sim/calls/call.h"

/* The library's own function of this version, with the type of ours. */
#define REAL_VERB(name, version)                                                     \
	({                                                                           \
		static __typeof__(&name) sim_real;                                   \
		if (!sim_real)                                                       \
			sim_real = (__typeof__(&name))sim_real_verb(#name, version); \
		sim_real;                                                            \
	})
void *sim_real_verb(const char *name, const char *version);

/*
 * Begins a call that is not counted, with the errno value of its failure if --fail names none (0:
 * it cannot fail), the place it comes from, and the text for --trace. Returns 0, or the errno value
 * with which it is to fail now, which is in errno, too; then the call has ended.
 */
int sim_begin_verb(const char *name, int usual, const void *caller, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void sim_end_verb(bool failed);

/*
 * The functions that ours have replaced in the tables of a context. Those of extended queues are
 * the same for all: only soft-RoCE has any.
 */
struct sim_kept {
	struct ibv_context_ops ops;
	struct verbs_context verbs_context;
};
struct sim_kept *sim_kept_of(const struct ibv_context *context);
extern struct ibv_cq_ex sim_kept_cq_ex;
extern struct ibv_qp_ex sim_kept_qp_ex;

/* Put our functions into the tables when the program gets a context, or an extended queue. */
void sim_install_context(struct ibv_context *context);
void sim_install_cq_ex(struct ibv_cq_ex *cq);
void sim_install_qp_ex(struct ibv_qp_ex *qp);

/* The parts of the functions above that wrappers.py writes. */
void install_ops(struct ibv_context_ops *table, struct ibv_context_ops *kept);
void install_verbs_context(struct verbs_context *table, struct verbs_context *kept);
void install_cq_ex(struct ibv_cq_ex *table, struct ibv_cq_ex *kept);
void install_qp_ex(struct ibv_qp_ex *table, struct ibv_qp_ex *kept);

/*
 * A post: each request of a chain is a call, and the requests before the one that is to fail are
 * posted.
 */
#define POSTS(verb, queue, request, member)                              \
	static int ours_##verb(queue *to, request *first, request **bad) \
	{                                                                \
		int (*real)(queue *, request *, request **) =            \
			sim_kept_of(to->context)->ops.member;            \
		request *last = NULL, *wr = first;                       \
		int ret = 0, way = 0;                                    \
                                                                         \
		if (!sim_sees_call())                                    \
			return real(to, first, bad);                     \
		while (wr && !(way = SIM_CALL(#verb, ENOMEM))) {         \
			last = wr;                                       \
			wr = wr->next;                                   \
		}                                                        \
		if (way && last)                                         \
			last->next = NULL;                               \
		if (!way || last)                                        \
			ret = SIM_INSIDE(real(to, first, bad));          \
		if (way && last)                                         \
			last->next = wr;                                 \
		if (ret || !way)                                         \
			return ret;                                      \
		*bad = wr;                                               \
		return sim_number(way);                                  \
	}

/* Returns true if the program itself makes this call, in a process that is simulated. */
bool sim_sees_call(void);
#endif
