/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the two sides tell each other when they connect, if anything. See connect_info.h.
 */
#include "common/connect_info.h"

void our_setup_connect_info(struct our_control *client, struct rdma_conn_param *param)
{
	if (client->connect_info)
		client->connect_info->tell(client, param);
}

int our_take_connect_info(struct our_control *agent, const struct our_cm_event *request)
{
	return agent->connect_info ? agent->connect_info->take(agent, request) : 0;
}

uint8_t our_setup_refusal(struct our_control *control, int error)
{
	return control->connect_info ? control->connect_info->refuse(control, error) : 0;
}
