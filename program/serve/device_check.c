/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A check that the device supports the program's operations. See serve.h. */
#include <errno.h>

#include "common/roles.h"
#include "program/options.h"
#include "program/report.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"

static int check_atomics(const struct our_control *control)
{
	struct ibv_device_attr device;
	int ret;

	ret = OUR_CALL(ibv_query_device(control->verbs, &device));
	if (ret)
		return our_report_error("ibv_query_device", ret, NULL);
	if (device.atomic_cap != IBV_ATOMIC_NONE)
		return 0;
	our_report_sentence("%s (%s) has no atomic operations, and this program is made of them: "
			    "try an address of a RoCE or InfiniBand device",
			    our_device_name(control), our_transport_name(control));
	return EOPNOTSUPP;
}

int our_check_data_size(struct our_control *control)
{
	struct our_run *run = our_run_of(control);
	struct ibv_context *verbs = control->verbs;
	struct ibv_port_attr port;
	int ret;

	if (!verbs)
		return 0;
	ret = run->options->program->needs_atomics ? check_atomics(control) : 0;
	if (ret)
		return ret;
	ret = OUR_CALL(ibv_query_port(verbs, control->port_num, &port));
	if (ret)
		return our_report_error("ibv_query_port", ret, NULL);
	if (run->data_size <= port.max_msg_sz)
		return 0;
	our_session_of(control)->refusal_limit = port.max_msg_sz;
	our_report_sentence("%s %u is more than %s takes: at most %u bytes a message",
			    control->role == OUR_AGENT ? "client refused: -s" : "-s",
			    run->data_size, our_device_name(control), port.max_msg_sz);
	return EMSGSIZE;
}
