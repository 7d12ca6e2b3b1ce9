/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Admission: a connect request becomes an agent, or is refused, before anything except the control
 * structure is allocated for it. end.c returns what an agent was admitted with.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/private.h"
#include "measure/run.h"
#include "program/admission.h"
#include "program/config.h"
#include "program/report.h"
#include "program/stage.h"
#include "serve/serve.h"

/* Admits the client, or reports why not. */
static int admit(struct our_control *agent)
{
	const struct our_run *run = our_run_of(agent);
	int ret = our_admit(run->admission, run->memory);

	if (ret == EBUSY)
		our_report_sentence("client refused: %" PRIu64 " are being served (--max-clients)",
				    run->admission->max_clients);
	if (ret == EDQUOT)
		our_report_sentence(
			"client refused: it would take %" PRIu64 " bytes of memory, and "
			"%" PRIu64 " of %" PRIu64 " are left (--max-memory, and "
			"ulimit -l)",
			run->memory, our_memory_left(run->admission), run->admission->max_memory);
	return ret;
}

/* Takes what the client has told, if the stage's clients do, and checks it. */
static int take_connect_info(struct our_control *agent)
{
	const struct our_stage *stage = our_stage_of(agent);
	int ret;

	if (!stage->connect_info)
		return 0;
	ret = stage->connect_info->take(agent, &agent->cm_event);
	return ret ? ret : stage->check(agent);
}

int our_admit_client(struct our_control *listener, struct our_control **admitted)
{
	const struct our_run *server = our_run_of(listener);
	struct rdma_cm_id *cm_id = listener->cm_event.cm_id;
	struct our_control *agent;
	int ret;

	ret = our_create_run(listener->config, server->options, OUR_AGENT, &agent);
	if (ret) {
		our_reject_request(listener, cm_id, ret);
		our_note_failure(server->admission, ret);
		return ret;
	}
	our_run_of(agent)->admission = server->admission;
	agent->cm_event = listener->cm_event;
	our_adopt_id(agent, cm_id);
	ret = take_connect_info(agent);
	if (!ret)
		ret = our_check_data_size(agent);
	if (!ret)
		ret = admit(agent);
	if (ret)
		goto err_refuse;
	*admitted = agent;
	return 0;

err_refuse:
	our_reject_request(agent, cm_id, ret);
	our_destroy_run(agent);
	our_note_failure(server->admission, ret);
	return ret;
}

void our_reject_admitted(struct our_control *agent, int error)
{
	our_reject_request(agent, agent->cm_id, error);
	our_release_agent(agent, error);
}
