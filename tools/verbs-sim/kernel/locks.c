/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The spin locks that a library holds while it uses a queue that it shares with its driver. Polling
 * a CQ and posting a receive are no commands: the simulation sees them when the library takes the
 * lock, and sees the posted receives when it gives the lock back. See kernel.h.
 *
 * A library initializes the locks of a queue after the command that creates it: librxe first the
 * lock of a QP's receives, then the lock of its sends, and libsiw the other way round. A lock that
 * the program itself has made does not count.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"
#include "verbs-sim/kernel/kernel.h"

#define BUCKETS 8192
#define APART   16 /* least bytes from one lock to the next: they are in allocated objects */

struct lock {
	LIST_ENTRY(lock) link;
	const void *place;
	struct sim_object *owner;
	struct lock *next;            /* the owner's next lock */
	struct sim_recv_queue *recvs; /* guarded by it; NULL: it guards completions, or sends */
};
static LIST_HEAD(locks, lock) buckets[BUCKETS];

static __thread struct sim_object *awaited;
static __thread unsigned int found; /* number of its locks */

static struct locks *bucket_of(const void *place)
{
	return &buckets[(uintptr_t)place / APART % BUCKETS];
}

static struct lock *find(const void *place)
{
	struct lock *lock;

	for (lock = LIST_FIRST(bucket_of(place)); lock; lock = LIST_NEXT(lock, link)) {
		if (lock->place == place)
			return lock;
	}
	return NULL;
}

/* ---- Learning ---- */

void kernel_await_locks(struct sim_object *owner)
{
	awaited = owner;
	found = 0;
}

void kernel_forget_locks(struct sim_object *owner)
{
	struct lock *lock;

	while ((lock = owner->locks)) {
		owner->locks = lock->next;
		LIST_REMOVE(lock, link);
		free(lock);
	}
}

/* Returns the queue of receives that the awaited object's next lock guards, or NULL. */
static struct sim_recv_queue *guarded(void)
{
	struct sim_qp *qp = (struct sim_qp *)awaited;

	if (awaited->kind == SIM_SRQ)
		return &((struct sim_srq *)awaited)->queue;
	if (awaited->kind != SIM_QP || qp->srq)
		return NULL;
	return found == (sim_is_iwarp(qp) ? 1 : 0) ? &qp->recvs : NULL;
}

static void learn(const void *place)
{
	struct lock *lock = find(place);

	if (lock && lock->owner == awaited)
		return; /* librxe initializes the sends' lock twice */
	if (lock)       /* an object that the library has forgotten had this memory */
		kernel_forget_locks(lock->owner);
	lock = malloc(sizeof(*lock));
	if (!lock)
		sim_give_up(SIM_VERDICT_BROKEN, "out of memory");
	*lock = (struct lock){
		.place = place, .owner = awaited, .recvs = guarded(), .next = awaited->locks
	};
	LIST_INSERT_HEAD(bucket_of(place), lock, link);
	awaited->locks = lock;
	found++;
}

static void init_lock(const void *place)
{
	if (awaited)
		learn(place);
}

/* ---- Using them ---- */

static void poll_cq(struct lock *lock)
{
	struct sim_cq *cq = (struct sim_cq *)lock->owner;

	SIM_STEP("POLL_CQ");
	if (sim_pending(cq))
		sim_found();
	else
		sim_idle(cq);
	sim_watch_taken(&cq->ring);
}

/* Notes the completions that the library has taken out meanwhile. */
static void see_taken(struct lock *lock)
{
	struct sim_cq *cq = (struct sim_cq *)lock->owner;
	struct sim_qp *qp;
	struct ibv_wc wc;

	while (sim_read_taken(&cq->ring, &wc)) {
		qp = sim_find_qp(wc.qp_num);
		if (qp)
			sim_end_polled(qp, &wc);
		sim_trace_completion(&wc);
	}
}

static void post_recv(enum sim_kind kind)
{
	if (kind == SIM_SRQ)
		SIM_STEP("POST_SRQ_RECV");
	else
		SIM_STEP("POST_RECV");
	sim_found();
}

/* For sends only the lock matters: a command posts them. */
static bool before_lock(const void *place)
{
	struct lock *lock = find(place);

	if (!lock || (lock->owner->kind == SIM_QP && !lock->recvs))
		return false;
	sim_interrupt_spinning();
	if (lock->owner->kind == SIM_CQ)
		poll_cq(lock);
	else
		post_recv(lock->owner->kind);
	return true;
}

static void post_sends(struct sim_qp *qp)
{
	if (qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_ERR)
		kernel_post_sends(qp);
}

static void behind_unlock(const void *place)
{
	struct lock *lock = find(place);
	struct sim_qp *qp;

	if (lock && lock->owner->kind == SIM_CQ)
		see_taken(lock);
	/* libsiw rings no doorbell while its driver works. */
	if (lock && lock->owner->kind == SIM_QP && !lock->recvs &&
	    sim_is_iwarp((struct sim_qp *)lock->owner))
		post_sends((struct sim_qp *)lock->owner);
	if (!lock || !lock->recvs)
		return;
	sim_read_recvs(sim_me->program, lock->recvs);
	qp = lock->owner->kind == SIM_QP ? (struct sim_qp *)lock->owner : NULL;
	if (qp && qp->state == IBV_QPS_ERR && sim_qp_traits(qp)->flushes_late)
		sim_flush_recvs(qp);
}

__attribute__((constructor)) static void hook(void)
{
	sim_hooks.init_spin_lock = init_lock;
	sim_hooks.before_spin_lock = before_lock;
	sim_hooks.behind_spin_unlock = behind_unlock;
}
