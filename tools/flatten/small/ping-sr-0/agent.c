/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A flattened agent believes its client: it does not look whether more came than was due.
 */
#include "common/connection_management.h"
#include "common/stage.h"

static int serve(struct our_control *agent)
{
	int ret, shown;

	ret = our_agent_operation(agent);
	if (!ret)
		ret = await_disconnect(agent);
	shown = our_report_results(agent);
	our_disconnect(agent);
	return ret ? ret : shown;
}

int our_agent(struct our_control *agent)
{
	int ret;

	ret = our_create_event_channel(agent);
	if (ret)
		goto err_turn_away;
	ret = our_migrate_id(agent, agent->cm_id);
	if (ret)
		goto out_dismiss;
	ret = accept_and_serve(agent);
	our_destroy_id(agent);

out_dismiss:
	our_destroy_event_channel(agent);
	our_dismiss(agent, ret);
	return ret;

err_turn_away:
	our_turn_away(agent, ret);
	return ret;
}
