/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: numbers and flags that change with each message. They need no memory ordering,
 * and ordered atomic operations would slow the program down.
 */
#ifndef VERBS_TRACE_TOOL_RELAXED_H
#define VERBS_TRACE_TOOL_RELAXED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The new value. */
static inline int64_t relaxed_add(_Atomic int64_t *number, int64_t n)
{
	return atomic_fetch_add_explicit(number, n, memory_order_relaxed) + n;
}

static inline void relaxed_set(_Atomic bool *flag, bool to)
{
	if (atomic_load_explicit(flag, memory_order_relaxed) != to)
		atomic_store_explicit(flag, to, memory_order_relaxed);
}

#endif
