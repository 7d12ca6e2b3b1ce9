/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Looking at memory in a flattened program: it waits until no byte of the message is zero.
 */
#include <errno.h>
#include <string.h>

#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "ping-rdma-1/ping_rdma.h"
#include "ping-rdma-3/watch.h"

int our_check_watch(const struct our_control *control)
{
	return 0;
}

void our_clear_memory(struct our_control *control)
{
	memset(control->buffers[OUR_RECV_BUFFER].data, 0, control->data_size);
}

int our_take_completion(struct our_control *control, const struct our_completion *completion)
{
	if (our_is_exchange(completion->wr_id))
		return our_take_exchange(&control->transfer->exchange, completion);
	control->transfer->progress->writing = false;
	return 0;
}

/* Waits for a completion, and takes it. */
static int await_and_take(struct our_control *control)
{
	struct our_completion completion;
	int ret = our_await_completion(control, &completion);

	return ret ? ret : our_take_completion(control, &completion);
}

/* Takes a completion, if there is one, and sees to all else. */
static int look_around(struct our_control *control)
{
	uint64_t limit_ns = control->wait_until_ns;
	int ret;

	control->wait_until_ns = 1; /* that time is over: it does not wait */
	ret = await_and_take(control);
	control->wait_until_ns = limit_ns;
	if (ret && ret != ETIMEDOUT)
		return ret;
	if (control->transfer->exchange.received[OUR_COUNT_TOLD])
		return ENODATA;
	return our_keep_waiting(control);
}

int our_await_message(struct our_control *control)
{
	const uint8_t *data = control->buffers[OUR_RECV_BUFFER].data;
	size_t length = control->data_size, seen = 0;
	unsigned int looks = 0;
	int ret;

	while ((seen = find_zero(data, seen, length)) < length) {
		if (++looks % LOOKS_A_MOMENT)
			continue;
		ret = look_around(control);
		if (ret)
			return ret;
	}
	control->keepalive.heard = true;
	control->transfer->progress->seen++;
	return 0;
}

int our_write_message(struct our_control *control, uint64_t number)
{
	int ret = our_post_send(control, OUR_SEND_BUFFER);

	control->transfer->progress->writing = !ret;
	return ret;
}

int our_await_written(struct our_control *control)
{
	int ret = 0;

	while (!ret && control->transfer->progress->writing)
		ret = await_and_take(control);
	return ret;
}
