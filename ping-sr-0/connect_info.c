/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-0: client and server tell each other nothing when they connect. Each uses its own command
 * line, and does not notice when the two differ. ping-sr-1 solves this problem. What a stage
 * provides: see common/stage.h.
 */
#include <stdio.h>

#include "common/stage.h"

const struct our_option *const our_server_options = our_message_options;

void our_check_server_options(const struct our_options *options)
{
	(void)options;
}

void our_setup_connect_info(struct our_control *control, struct rdma_conn_param *param)
{
	(void)control;
	(void)param;
}

int our_take_connect_info(struct our_control *control, const struct our_cm_event *request)
{
	(void)control;
	(void)request;
	return 0;
}

uint8_t our_setup_refusal(struct our_control *control, int error)
{
	(void)error;
	(void)control;
	return 0;
}

void our_explain_refusal(const struct our_control *control, char *text, size_t size)
{
	(void)control;
	snprintf(text, size, "its own messages say why");
}
