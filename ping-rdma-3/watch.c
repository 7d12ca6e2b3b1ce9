/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-3: looking at memory. See watch.h.
 */
#include <errno.h>
#include <string.h>

#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "ping-rdma-1/ping_rdma.h"
#include "ping-rdma-3/watch.h"

#define LOOKS_A_MOMENT 4096 /* to look at the CQ and the CM takes as long as many looks at memory */
#define ONES           0x0101010101010101ull
#define HIGHEST_BITS   0x8080808080808080ull

static bool last_byte; /* --last-byte */

const struct our_option our_watch_options[] = {
	{ "last-byte", 0, NULL,
	  "look at a message's last byte only: where a device writes in ascending order",
	  OUR_OWN_FLAG(last_byte) },
	{ 0 },
};

void our_clear_memory(struct our_control *control)
{
	memset(control->buffers[OUR_RECV_BUFFER].data, 0, control->data_size);
}

static bool has_zero_byte(uint64_t word)
{
	return (word - ONES) & ~word & HIGHEST_BITS;
}

/*
 * Where the bytes from `from` on, a multiple of eight, are still zero; `length`: nowhere. The device
 * writes them behind the compiler's back. Each look is an atomic load, so that it is made anew each time,
 * and with acquire, so that what is read after it is not older.
 */
static size_t find_zero(const uint8_t *data, size_t from, size_t length)
{
	for (; from + sizeof(uint64_t) <= length; from += sizeof(uint64_t)) {
		const void *word = data + from;

		if (has_zero_byte(__atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE)))
			return from;
	}
	for (; from < length; from++) {
		if (!__atomic_load_n(data + from, __ATOMIC_ACQUIRE))
			return from & ~(sizeof(uint64_t) - 1);
	}
	return length;
}

static int take_completion(struct our_control *control, const struct our_completion *completion)
{
	if (our_is_exchange(completion->wr_id))
		return our_take_exchange(&control->transfer->exchange, completion);
	control->transfer->writing = false;
	return 0;
}

/* The CQ comes first: a WRITE that has failed says more than that the peer has left. */
static int look_around(struct our_control *control)
{
	struct our_completion completion;
	int ret = our_await_time(control, 1, &completion); /* that is over: it does not wait */

	if (!ret)
		ret = take_completion(control, &completion);
	if (ret && ret != EAGAIN)
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

	if (last_byte) /* all but the word that it is in are taken to be there */
		seen = (length - 1) & ~(sizeof(uint64_t) - 1);
	while ((seen = find_zero(data, seen, length)) < length) {
		if (++looks % LOOKS_A_MOMENT)
			continue;
		ret = look_around(control);
		if (ret)
			return ret;
	}
	control->keepalive.heard = true;
	return 0;
}

int our_write_message(struct our_control *control)
{
	int ret = our_post_send(control, OUR_SEND_BUFFER);

	control->transfer->writing = !ret;
	return ret;
}

int our_await_written(struct our_control *control)
{
	struct our_completion completion;
	int ret = 0;

	while (!ret && control->transfer->writing) {
		ret = our_await_completion(control, &completion);
		if (!ret)
			ret = take_completion(control, &completion);
	}
	return ret;
}
