/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the program's objects, found by their pointers: their names in order of
 * creation (qp1, mr2, id1), and the state that the accusations need. Any thread may call
 * these functions. The memory of an entry is never freed, only used again, so a pointer to one stays
 * valid.
 */
#ifndef VERBS_TRACE_TOOL_OBJECTS_H
#define VERBS_TRACE_TOOL_OBJECTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "verbs-trace/tool/callers.h"
#include "verbs-trace/tool/out.h"
#include "verbs.h"

/* The verb and time of a call. If the verb has not been called yet, `when` is 0. */
struct moment {
	int verb; /* enum verb */
	uint64_t when;
};

struct object {
	enum kind kind;
	unsigned int number;
	const void *pointer;
	bool own; /* created by a call of the program, not by a library for itself */
	struct moment made;
	struct object *next;

	/*
	 * Queues and their channel: see watch_queues.c. Members without _Atomic are written by only
	 * one call in an object's life.
	 */
	struct object *_Atomic send_cq, *_Atomic recv_cq, *_Atomic channel;
	uint32_t qp_num;
	struct object *next_qp;                    /* at the same place in the table of QPs */
	struct object *next_on_channel, *first_cq; /* guarded by GUARD_CHANNELS */
	bool sq_sig_all;
	uint64_t wc_flags;           /* extended CQ: its attribute */
	void *functions;             /* an extended queue's own: see devices.c */
	_Atomic int entries;         /* CQ: its size */
	_Atomic bool uncounted;      /* the number of completions that will come is not known */
	_Atomic int64_t outstanding; /* CQ or QP: completions that must come */
	_Atomic int64_t most;
	_Atomic int64_t receives; /* QP: posted and not completed */
	struct moment beyond; /* the call that first had more outstanding than the CQ has entries */

	/* A polled completion in error of a QP: see watch_polls.c. */
	_Atomic int failed_thread; /* 0: none */
	int status;
	struct moment failed;

	/* Arming and polling of a CQ. */
	_Atomic uint64_t armed; /* the time */
	_Atomic bool polled_since_event, polled_since_armed, at_risk;
	_Atomic uint64_t empty, empty_since, empty_until; /* empty polls that were not shown yet */
	_Atomic int empty_thread, empty_tid;              /* the thread that began them */
	struct callers empty_from;                        /* with -i: its callers then */
	_Atomic bool told;                                /* only one accusation of each kind */

	_Atomic uint64_t got, acked; /* numbers of events */
	_Atomic uint64_t got_last;   /* the time of the last event */

	_Atomic uint64_t shown; /* with -q: the verbs (moves_data) of which a call was shown */
};

/*
 * Change numbers and flags that change with each message: they need no memory ordering, and ordered
 * atomic operations would slow the program down. The first returns the new value.
 */
static inline int64_t relaxed_add(_Atomic int64_t *number, int64_t n)
{
	return atomic_fetch_add_explicit(number, n, memory_order_relaxed) + n;
}

static inline void relaxed_set(_Atomic bool *flag, bool to)
{
	if (atomic_load_explicit(flag, memory_order_relaxed) != to)
		atomic_store_explicit(flag, to, memory_order_relaxed);
}

/* Returns the known object with this pointer, or a new one. Returns NULL for NULL. */
struct object *object_made(enum kind kind, const void *pointer, bool own, struct moment made);
struct object *object_seek(enum kind kind, const void *pointer);

#define OBJECTS_RECENT 16
/* The objects that this thread has looked up recently; one that has ended has no pointer. */
extern __thread struct object *object_recent[OBJECTS_RECENT];

static inline struct object **object_recent_at(const void *pointer)
{
	return &object_recent[(uintptr_t)pointer >> 6 & (OBJECTS_RECENT - 1)];
}

/* Returns the known object, or NULL. */
static inline struct object *object_of(enum kind kind, const void *pointer)
{
	struct object *object = *object_recent_at(pointer);

	if (object && pointer && object->pointer == pointer && object->kind == kind)
		return object;
	return object_seek(kind, pointer);
}
/*
 * To be called before a call that may destroy the object, after which another may have the same
 * pointer. If the call fails, the object is put back; otherwise object_ended allows its reuse.
 */
struct object *object_take(enum kind kind, const void *pointer);
void object_put_back(struct object *object);
void object_ended(struct object *object);
/* Calls `see` for each object, in order of creation within its kind. Does not use the heap. */
void objects_each(enum kind kind, void (*see)(struct object *object, void *argument),
		  void *argument);
/*
 * The first sets the number of a QP; the second returns the QP with this number whose completions
 * go to this CQ, or NULL.
 */
void object_number_qp(struct object *qp, uint32_t qp_num);
struct object *object_qp_of(const struct object *cq, uint32_t qp_num);

/* Returns the name, "qp1". The first call gives a library's own object its number. */
const char *object_name(struct object *object, char *text, size_t size);

/* Shows an object by its name; an unknown one by its pointer. */
void out_object(struct out *out, const char *name, enum kind kind, const void *pointer);
void out_known(struct out *out, const char *name, struct object *object, const void *pointer);

/*
 * Returns false if the object has ended; otherwise it cannot end, and no function here may be
 * called, until guard_unlock(GUARD_OBJECTS).
 */
bool object_hold(struct object *object);

#endif
