/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-3: looking at memory. See watch.h.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "beyond/ping-rdma-3/barrier.h"
#include "beyond/ping-rdma-3/watch.h"
#include "common/roles.h"
#include "ping-sr-0/ping.h"
#include "program/measure/run.h"
#include "program/report.h"

#define LOOKS_A_MOMENT 4096 /* looking at the CQ and the CM takes as long as many looks at memory */
#define ONES           0x0101010101010101ull
#define HIGHEST_BITS   0x8080808080808080ull

static bool last_byte; /* --last-byte */
static bool sequence;  /* --sequence */
static bool immediate; /* --immediate; if several are given, the last in this list counts */

const struct our_option our_watch_options[] = {
	{ "last-byte", 0, NULL,
	  "look only at a message's last byte: for devices that write in ascending order",
	  OUR_OWN_FLAG(last_byte) },
	{ "sequence", 0, NULL,
	  "the same, and wait until that byte is the message's number: nothing needs to be cleared",
	  OUR_OWN_FLAG(sequence) },
	{ "immediate", 0, NULL,
	  "use WRITE with immediate data, and wait for its completions: give it to both",
	  OUR_OWN_FLAG(immediate) },
	{ 0 },
};

int our_check_watch(const struct our_control *control)
{
	if (!immediate || !our_is_iwarp(control))
		return 0;
	our_report_sentence("%s is an iWARP device, and iWARP has no immediate data: leave out "
			    "--immediate, or try an address of a RoCE or InfiniBand device",
			    our_device_name(control));
	return EOPNOTSUPP;
}

/* A reader that compares numbers, or waits for completions, does not look for zeros. */
void our_clear_memory(struct our_control *control)
{
	if (!sequence && !immediate)
		memset(control->memory.buffers[OUR_RECV_BUFFER].data, 0,
		       our_run_of(control)->data_size);
}

void our_number_message(struct our_control *client, uint64_t number)
{
	client->memory.buffers[OUR_SEND_BUFFER].data[our_run_of(client)->data_size - 1] =
		our_last_byte(number);
}

static bool has_zero_byte(uint64_t word)
{
	return (word - ONES) & ~word & HIGHEST_BITS;
}

/*
 * Looks for a byte that is still zero, from the byte `from` on, a multiple of eight. Returns where
 * to begin the next look, a multiple of eight again; or `length` if there is no such byte. The
 * compiler does not know that the device writes them. Each look is an atomic load, made anew each
 * time. With acquire, what is read after it is not older, if a thread has written it: tests have
 * such threads, and ThreadSanitizer knows no barriers. For devices await_memory has one.
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

/*
 * Looks at the message, of which `seen` bytes are known to be there. Returns how many are now; its
 * length if it is whole.
 */
static size_t look(const struct our_control *control, const struct our_watch *watch, size_t seen)
{
	const uint8_t *data = control->memory.buffers[OUR_RECV_BUFFER].data;
	size_t last = our_run_of(control)->data_size - 1;
	uint8_t number = our_last_byte(watch->seen);

	if (!sequence)
		return find_zero(data, seen, last + 1);
	return __atomic_load_n(data + last, __ATOMIC_ACQUIRE) == number ? last + 1 : last;
}

/* Takes a message's completion. It has used the receive for the count, which is still to come. */
static int take_immediate(struct our_control *control, struct our_watch *watch,
			  const struct our_completion *completion)
{
	struct our_run *run = our_run_of(control);
	if (completion->byte_len != run->data_size ||
	    completion->immediate != (uint32_t)watch->seen) {
		our_report_sentence(
			"a WRITE of %u bytes came with the number %u, where message %u of "
			"%u bytes was due",
			completion->byte_len, completion->immediate, (uint32_t)watch->seen,
			run->data_size);
		return EPROTO;
	}
	watch->arrived = true;
	return our_expect_count(control, &watch->one_sided.exchange);
}

int our_take_watched_completion(struct our_control *control, struct our_watch *watch,
				const struct our_completion *completion)
{
	if (immediate && completion->has_immediate)
		return take_immediate(control, watch, completion);
	if (our_is_exchange(completion->wr_id))
		return our_take_exchange(&watch->one_sided.exchange, completion);
	watch->writing = false;
	return 0;
}

/* The CQ comes first: a WRITE that has failed says more than that the peer has left. */
static int look_around(struct our_control *control, struct our_watch *watch)
{
	struct our_completion completion;
	int ret = our_await_time(control, 1, &completion); /* does not wait, as time 1 is over */

	if (!ret)
		ret = our_take_watched_completion(control, watch, &completion);
	if (ret && ret != EAGAIN)
		return ret;
	if (watch->one_sided.exchange.received[OUR_COUNT_TOLD])
		return ENODATA;
	return our_keep_polling(control);
}

/* A peer without --immediate writes, too, but there is no completion: silence may mean that. */
static int explain_silence(const struct our_control *control, const struct our_watch *watch)
{
	const struct our_run *run = our_run_of(control);
	const uint8_t *data = control->memory.buffers[OUR_RECV_BUFFER].data;

	if (watch->seen || find_zero(data, 0, run->data_size) < run->data_size)
		return ETIMEDOUT;
	our_report_sentence("a message is in memory, and came without immediate data: give "
			    "--immediate to both sides, or to none");
	return EPROTO;
}

static int await_immediate(struct our_control *control, struct our_watch *watch)
{
	struct our_completion completion;
	int ret = 0;

	while (!ret && !watch->arrived) {
		if (watch->one_sided.exchange.received[OUR_COUNT_TOLD])
			return ENODATA;
		ret = our_await_completion(control, &completion);
		if (!ret)
			ret = our_take_watched_completion(control, watch, &completion);
	}
	watch->arrived = false;
	return ret == ETIMEDOUT ? explain_silence(control, watch) : ret;
}

static int await_memory(struct our_control *control, struct our_watch *watch)
{
	size_t length = our_run_of(control)->data_size, seen = 0;
	unsigned int looks = 0;
	int ret;

	if (last_byte) /* assumes that all words before the last one are there */
		seen = (length - 1) & ~(sizeof(uint64_t) - 1);
	while ((seen = look(control, watch, seen)) < length) {
		if (++looks % LOOKS_A_MOMENT)
			continue;
		ret = look_around(control, watch);
		if (ret)
			return ret;
	}
	our_from_device_barrier(); /* later reads are not older than the looks */
	return 0;
}

int our_await_message(struct our_control *control, struct our_watch *watch)
{
	int ret = immediate ? await_immediate(control, watch) : await_memory(control, watch);

	watch->seen += !ret;
	return ret;
}

/* The number tells the peer which message this is; a plain WRITE has no field for it. */
int our_write_message(struct our_control *control, struct our_watch *watch, uint64_t number)
{
	struct ibv_send_wr *wr = &control->memory.buffers[OUR_SEND_BUFFER].send_wr;
	int ret;

	if (immediate) {
		wr->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		wr->imm_data = htobe32((uint32_t)number);
	}
	ret = our_post(control, wr, NULL);
	watch->writing = !ret;
	return ret;
}

int our_await_written(struct our_control *control, struct our_watch *watch)
{
	struct our_completion completion;
	int ret = 0;

	while (!ret && watch->writing) {
		ret = our_await_completion(control, &completion);
		if (!ret)
			ret = our_take_watched_completion(control, watch, &completion);
	}
	return ret;
}
