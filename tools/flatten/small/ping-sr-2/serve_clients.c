/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A flattened server serves clients until something runs out.
 */
#include <pthread.h>
#include <stdbool.h>

#include "common/stage.h"
#include "program/admission.h"
#include "program/report.h"

static void limit_clients(struct our_admission *admission, bool quiet)
{
}

static void start_agent(struct our_control *agent)
{
	pthread_t thread;
	int ret = pthread_create(&thread, NULL, agent_thread, agent);

	if (!ret) {
		pthread_detach(thread);
		return;
	}
	our_report_error("pthread_create", ret, "a client is refused");
	our_turn_away(agent, ret);
}

static void *agent_thread(void *argument)
{
	struct our_control *agent = argument;

	our_agent(agent);
	return NULL;
}
