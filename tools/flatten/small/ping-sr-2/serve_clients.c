/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The thread of an agent, with its argument as C++ wants it.
 */
#include "common/stage.h"

static void *agent_thread(void *argument)
{
	struct our_control *agent = argument;

	our_agent(agent);
	return NULL;
}
