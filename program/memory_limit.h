/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How much memory a process may take: what the machine has, or less in a container, whose control groups
 * limit it. Any thread.
 */
#ifndef OUR_MEMORY_LIMIT_H
#define OUR_MEMORY_LIMIT_H

#include <stdint.h>

/*
 * Returns the bytes of the machine's memory or, if that is less, of the lowest limit of the process's
 * control group and those above it: memory.max of version 2, memory.limit_in_bytes of version 1, see
 * cgroups(7). A limit that cannot be read does not count. Does not know what is taken already.
 */
uint64_t our_memory_limit(void);

#endif
