/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-3: a message there and back. The client writes it into the agent's memory, and looks at
 * its own until the agent has written it back there.
 */
#include <errno.h>

#include "ping-rdma-1/transfer.h"
#include "ping-rdma-3/watch.h"
#include "program/report.h"

int our_ping(struct our_control *client)
{
	uint64_t number = client->transfer->progress->seen;
	int ret;

	our_number_message(client, number);
	ret = our_write_message(client, number);
	if (ret)
		return ret;
	ret = our_await_message(client);
	if (ret == ENODATA) {
		our_report_sentence("the server has told its count, and a message is not back");
		return EPROTO;
	}
	return ret ? ret : our_await_written(client);
}

int our_prepare_for_next(struct our_control *client)
{
	our_clear_memory(client);
	return 0;
}
