/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The loop of a flattened server: it looks at the clock each second.
 */
#include "measure/clock.h"
#include "ping-sr-4/server.h"

#define FIXED_FDS 2 /* the CM's and the signals' */

static uint64_t next_look(const struct our_server *server)
{
	return our_end_of_wait(1);
}
