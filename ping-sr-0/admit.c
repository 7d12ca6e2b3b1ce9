/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Admission: a connect request becomes an agent, or is refused, before anything except the control
 * structure is allocated for it. end.c returns what an agent was admitted with.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/connect_info.h"
#include "common/connection_management.h"
#include "common/stage.h"
#include "measure/run.h"
#include "ping-sr-0/device_check.h"
#include "program/admission.h"
#include "program/report.h"

/* Admits the client, or reports why not. */
static int admit(struct our_control *agent)
{
	int ret = our_admit(agent->admission, agent->memory);

	if (ret == EBUSY)
		our_report_sentence("client refused: %" PRIu64 " are being served (--max-clients)",
				    agent->admission->max_clients);
	if (ret == EDQUOT)
		our_report_sentence("client refused: it would take %" PRIu64
				    " bytes of memory, and "
				    "%" PRIu64 " of %" PRIu64 " are left (--max-memory, and "
				    "ulimit -l)",
				    agent->memory, our_memory_left(agent->admission),
				    agent->admission->max_memory);
	return ret;
}

int our_admit_client(struct our_control *listener, struct our_control **admitted)
{
	struct rdma_cm_id *cm_id = listener->cm_event.cm_id;
	struct our_control *agent;
	int ret;

	ret = our_create_run(listener->config, listener->options, "agent", &agent);
	if (ret) {
		/*
		 * The client is refused without a reason: the listener's private data may be in
		 * use.
		 */
		our_drop_request(&listener->cm_event);
		our_note_failure(listener->admission, ret);
		return ret;
	}
	agent->connect_info = listener->connect_info;
	agent->admission = listener->admission;
	agent->cm_event = listener->cm_event;
	our_adopt_id(agent, cm_id);
	ret = our_take_connect_info(agent, &agent->cm_event);
	if (!ret && agent->connect_info)
		ret = our_stage.check(agent);
	if (!ret)
		ret = our_check_data_size(agent);
	if (!ret)
		ret = admit(agent);
	if (ret)
		goto err_refuse;
	*admitted = agent;
	return 0;

err_refuse:
	our_refuse_request(agent, cm_id, ret);
	our_destroy_run(agent);
	our_note_failure(listener->admission, ret);
	return ret;
}

void our_turn_away(struct our_control *agent, int error)
{
	our_refuse_request(agent, agent->cm_id, error);
	our_dismiss(agent, error);
}
