/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the table of objects. See objects.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs-trace/tool/guard.h"
#include "verbs-trace/tool/objects.h"

#define BUCKETS  16384 /* a power of two; with more objects chains become longer */
#define NUMBERED 4096

static struct object *buckets[BUCKETS];
static struct object *numbered[NUMBERED]; /* QPs, hashed by their numbers */
/* The objects that this thread has looked up recently; one that has ended has no pointer. */
__thread struct object *object_recent[OBJECTS_RECENT];
static __thread struct object *recent_qp[OBJECTS_RECENT];
static struct object *unused;
static unsigned int numbers[N_KINDS];

static struct object **bucket_of(const void *pointer)
{
	uintptr_t bits = (uintptr_t)pointer;

	return &buckets[(bits >> 4 ^ bits >> 16 ^ bits >> 28) & (BUCKETS - 1)];
}

/* With the lock held: returns the link to the entry, or the link at the end of its chain. */
static struct object **find(enum kind kind, const void *pointer)
{
	struct object **at = bucket_of(pointer);

	while (*at && ((*at)->pointer != pointer || (*at)->kind != kind))
		at = &(*at)->next;
	return at;
}

/*
 * To be called with the lock held. An object that a library made for itself gets a name only when
 * the program uses it.
 */
static void number(struct object *object)
{
	if (!object->number)
		object->number = ++numbers[object->kind];
}

static struct object *new_object(enum kind kind, const void *pointer)
{
	struct object *object = unused;

	if (object)
		unused = object->next;
	else
		object = malloc(sizeof(*object));
	if (!object)
		return NULL;
	memset(object, 0, sizeof(*object));
	object->kind = kind;
	object->pointer = pointer;
	return object;
}

/* With the lock held. */
static void forget_number(struct object *qp)
{
	struct object **at = &numbered[qp->qp_num % NUMBERED];

	while (*at && *at != qp)
		at = &(*at)->next_qp;
	if (*at)
		*at = qp->next_qp;
}

struct object *object_made(enum kind kind, const void *pointer, bool own, struct moment made)
{
	struct object **at, *object;

	if (!pointer)
		return NULL;
	guard_lock(GUARD_OBJECTS);
	at = find(kind, pointer);
	object = *at;
	if (!object) {
		object = new_object(kind, pointer);
		*at = object;
		if (object)
			object->made = made;
	}
	if (object && own && !object->own) {
		object->own = true;
		object->made = made;
		number(object);
	}
	guard_unlock(GUARD_OBJECTS);
	return object;
}

struct object *object_seek(enum kind kind, const void *pointer)
{
	struct object *object;

	if (!pointer)
		return NULL;
	guard_lock(GUARD_OBJECTS);
	object = *find(kind, pointer);
	guard_unlock(GUARD_OBJECTS);
	*object_recent_at(pointer) = object;
	return object;
}

struct object *object_take(enum kind kind, const void *pointer)
{
	struct object **at, *object;

	if (!pointer)
		return NULL;
	guard_lock(GUARD_OBJECTS);
	at = find(kind, pointer);
	object = *at;
	if (object)
		*at = object->next;
	guard_unlock(GUARD_OBJECTS);
	return object;
}

void object_put_back(struct object *object)
{
	struct object **at;

	if (!object)
		return;
	guard_lock(GUARD_OBJECTS);
	at = bucket_of(object->pointer);
	object->next = *at;
	*at = object;
	guard_unlock(GUARD_OBJECTS);
}

void object_ended(struct object *object)
{
	if (!object)
		return;
	guard_lock(GUARD_OBJECTS);
	if (object->kind == KIND_QP)
		forget_number(object);
	free(object->functions);
	object->functions = NULL;
	object->pointer = NULL;
	object->next = unused;
	unused = object;
	guard_unlock(GUARD_OBJECTS);
}

/* Sorts by number, without the heap, which qsort() may use. */
static void sort(struct object **all, size_t n)
{
	struct object *one;
	size_t gap, i, j;

	for (gap = n / 2; gap; gap /= 2) {
		for (i = gap; i < n; i++) {
			one = all[i];
			for (j = i; j >= gap && all[j - gap]->number > one->number; j -= gap)
				all[j] = all[j - gap];
			all[j] = one;
		}
	}
}

/* With the lock held: returns how many there are, and puts them into `all` if it is not NULL. */
static size_t collect(enum kind kind, struct object **all)
{
	struct object *object;
	size_t n = 0, i;

	for (i = 0; i < BUCKETS; i++) {
		for (object = buckets[i]; object; object = object->next) {
			if (object->kind != kind)
				continue;
			if (all)
				all[n] = object;
			n++;
		}
	}
	return n;
}

void objects_each(enum kind kind, void (*see)(struct object *object, void *argument),
		  void *argument)
{
	struct object **all = MAP_FAILED;
	size_t n, i, size;

	guard_lock(GUARD_OBJECTS);
	n = collect(kind, NULL);
	size = n * sizeof(struct object *);
	if (n)
		all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all != MAP_FAILED)
		collect(kind, all);
	guard_unlock(GUARD_OBJECTS);
	if (all == MAP_FAILED)
		return;
	sort(all, n);
	for (i = 0; i < n; i++)
		see(all[i], argument);
	munmap(all, size);
}

void object_number_qp(struct object *qp, uint32_t qp_num)
{
	guard_lock(GUARD_OBJECTS);
	forget_number(qp);
	qp->qp_num = qp_num;
	qp->next_qp = numbered[qp_num % NUMBERED];
	numbered[qp_num % NUMBERED] = qp;
	guard_unlock(GUARD_OBJECTS);
}

/* Only a QP has a CQ. */
static bool completes_to(const struct object *qp, const struct object *cq, uint32_t qp_num)
{
	return qp->qp_num == qp_num && qp->pointer && (qp->recv_cq == cq || qp->send_cq == cq);
}

struct object *object_qp_of(const struct object *cq, uint32_t qp_num)
{
	struct object **at = &recent_qp[qp_num & (OBJECTS_RECENT - 1)], *qp = *at;

	if (qp && completes_to(qp, cq, qp_num))
		return qp;
	guard_lock(GUARD_OBJECTS);
	qp = numbered[qp_num % NUMBERED];
	while (qp && !completes_to(qp, cq, qp_num))
		qp = qp->next_qp;
	guard_unlock(GUARD_OBJECTS);
	*at = qp;
	return qp;
}

const char *object_name(struct object *object, char *text, size_t size)
{
	guard_lock(GUARD_OBJECTS);
	number(object);
	guard_unlock(GUARD_OBJECTS);
	snprintf(text, size, "%s%u", kind_names[object->kind], object->number);
	return text;
}

void out_known(struct out *out, const char *name, struct object *object, const void *pointer)
{
	char text[48];

	if (object)
		object_name(object, text, sizeof(text));
	else if (pointer)
		snprintf(text, sizeof(text), "%p", pointer);
	else
		snprintf(text, sizeof(text), "NULL");
	out_word(out, object ? FOR_JSON(out, name) : name, text);
}

void out_object(struct out *out, const char *name, enum kind kind, const void *pointer)
{
	out_known(out, name, object_of(kind, pointer), pointer);
}

bool object_hold(struct object *object)
{
	guard_lock(GUARD_OBJECTS);
	if (*find(object->kind, object->pointer) == object)
		return true;
	guard_unlock(GUARD_OBJECTS);
	return false;
}
