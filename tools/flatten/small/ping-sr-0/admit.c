/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A client that a flattened server refuses asks for what cannot be, or is one too many.
 */
#include "common/connection_management.h"
#include "common/device.h"
#include "common/stage.h"
#include "program/admission.h"

int our_admit_client(struct our_control *listener, struct our_control **admitted)
{
	struct our_control *agent;
	int ret;

	ret = our_create_control_struct(listener->options, "agent", &agent);
	if (ret) {
		our_drop_request(&listener->cm_event);
		return ret;
	}
	agent->admission = listener->admission;
	agent->cm_event = listener->cm_event;
	our_adopt_id(agent, listener->cm_event.cm_id);
	ret = our_take_connect_info(agent, &agent->cm_event);
	if (!ret)
		ret = our_check_data_size(agent);
	if (!ret)
		ret = our_admit(agent->admission, 0);
	if (ret)
		goto err_refuse;
	*admitted = agent;
	return 0;

err_refuse:
	our_refuse_request(agent, agent->cm_id, ret);
	our_destroy_control_struct(agent);
	return ret;
}
