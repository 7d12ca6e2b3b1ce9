/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Asking the device, in a flattened program.
 */
#include <errno.h>

#include "common/device.h"
#include "program/report.h"

int our_check_data_size(struct our_control *control)
{
	struct ibv_port_attr port;
	int ret;

	if (!USES_rdma_accept && !control->verbs) /* without the CM it is known later */
		return 0;
	ret = control->options->program->needs_atomics ? check_atomics(control) : 0;
	if (ret || (!IS_CLIENT && USES_our_decode_connect_info)) /* it has bounds of its own */
		return ret;
	ret = ibv_query_port(control->verbs, control->port_num, &port);
	if (ret)
		return our_report_error("ibv_query_port", ret, NULL);
	if (control->data_size <= port.max_msg_sz)
		return 0;
	our_report_sentence("messages of %u bytes: the device takes at most %u", control->data_size,
			    port.max_msg_sz);
	return EMSGSIZE;
}

/* Some drivers leave errno alone when they fail: `error` 0. */
int our_report_no_queue(const struct our_control *control, const char *call, int error)
{
	return our_report_error(call, error ? error : ENOMEM,
				"%u sends, %u receives: ibv_devinfo -v has the device's limits",
				control->max_send_wr, control->max_recv_wr);
}
