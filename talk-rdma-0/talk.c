/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * talk-rdma-0: the conversation. A line is written into the other side's slot; it has been taken
 * when reading it back shows that. Meanwhile each side looks at its own slot.
 */
#include <errno.h>
#include <string.h>

#include "common/memory_registration.h"
#include "ping-sr-0/legacy.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-rdma-1/one_sided.h"
#include "program/report.h"
#include "talk-rdma-0/talk.h"

#define TURN_MS 10
#define TURN_NS (TURN_MS * (OUR_NS_PER_S / 1000))

/*
 * The text first, the mark after it, and after both the READ, whose completion covers the WRITEs.
 */
static void setup_requests(struct our_control *control)
{
	struct our_transfer *transfer = control->transfer;
	struct our_buffer *line = &control->buffers[OUR_LINE_BUFFER];

	our_setup_write_wr(control, OUR_LINE_BUFFER, &transfer->exchange.buffer);
	our_setup_read_wr(control, OUR_BACK_BUFFER, &transfer->exchange.buffer);
	control->buffers[OUR_BACK_BUFFER].sge.lkey = transfer->sink->lkey;
	transfer->text_wr = line->send_wr;
	transfer->text_wr.send_flags = 0;
	transfer->text_wr.sg_list = &transfer->text_sge;
	transfer->text_wr.next = &transfer->mark_wr;
	transfer->mark_wr = transfer->text_wr;
	transfer->mark_wr.sg_list = &transfer->mark_sge;
	transfer->mark_wr.wr.rdma.remote_addr += OUR_SLOT_MARK;
	transfer->mark_wr.next = &control->buffers[OUR_BACK_BUFFER].send_wr;
}

static int say(struct our_control *control, const uint8_t *text, uint16_t length)
{
	struct our_transfer *transfer = control->transfer;
	uint8_t *line = control->buffers[OUR_LINE_BUFFER].data;
	uint64_t mark = our_make_mark(transfer->said + 1, text, length);
	uint32_t lkey = control->data_mr->lkey;
	struct ibv_send_wr *bad_wr;
	int ret;

	memcpy(line, text, length);
	memcpy(line + OUR_SLOT_MARK, &mark, sizeof(mark));
	our_setup_sge(&transfer->text_sge, line, length, lkey);
	our_setup_sge(&transfer->mark_sge, line + OUR_SLOT_MARK, sizeof(mark), lkey);
	transfer->said_ns = our_now_ns();
	ret = ibv_post_send(control->qp, length ? &transfer->text_wr : &transfer->mark_wr, &bad_wr);
	if (ret)
		return our_judge_post(control, "ibv_post_send", ret);
	transfer->saying = transfer->reading = true;
	return 0;
}

/* Checks that what has been read back is what we wrote, and whether it has been taken. */
static int look_back(struct our_control *control)
{
	const uint8_t *back = control->buffers[OUR_BACK_BUFFER].data;
	const uint8_t *line = control->buffers[OUR_LINE_BUFFER].data;
	struct our_transfer *transfer = control->transfer;
	uint64_t now_ns = our_now_ns();

	transfer->reading = false;
	transfer->look_ns = now_ns + TURN_NS;
	if (memcmp(back, line, transfer->text_sge.length) ||
	    memcmp(back + OUR_SLOT_MARK, line + OUR_SLOT_MARK, sizeof(uint64_t))) {
		our_report_sentence("line %u is not in the other side's memory as it was written",
				    transfer->said + 1);
		return EBADMSG;
	}
	if (our_seen(back) == transfer->said + 1) {
		transfer->said++;
		transfer->saying = false;
		control->statistics.messages++;
		our_histogram_add(&control->statistics.round_trips, now_ns - transfer->said_ns);
		our_limit_wait(control, now_ns);
	}
	return 0;
}

int our_agent_react(struct our_control *control, const struct our_completion *completion)
{
	struct our_exchange *exchange = &control->transfer->exchange;
	int ret;

	if (!our_is_exchange(completion->wr_id))
		return look_back(control);
	ret = our_take_exchange(exchange, completion);
	if (!ret && our_is_recv(completion->wr_id) && exchange->received[OUR_COUNT_TOLD] &&
	    !control->transfer->told && !control->options->quiet)
		our_report_sentence("the other side has no more to say; Ctrl-D ends this one");
	return ret;
}

/* Prints what the other side has said, and only then says that it may be overwritten. */
static int hear(struct our_control *control)
{
	struct our_transfer *transfer = control->transfer;
	uint8_t *slot = control->buffers[OUR_SLOT_BUFFER].data, text[OUR_SLOT_TEXT];
	int ret, length = our_look_at_slot(slot, transfer->heard + 1, text);

	if (length < 0)
		return 0;
	ret = our_show_line(text, (size_t)length);
	if (ret)
		return ret;
	our_note_seen(slot, ++transfer->heard);
	our_limit_wait(control, our_now_ns());
	return 0;
}

/* Our next step: a new line, a look at the last one, or the message that there are no more. */
static int go_on(struct our_control *control, int limit_ms)
{
	struct our_transfer *transfer = control->transfer;
	uint8_t text[OUR_SLOT_TEXT];
	int length, ret;

	if (transfer->saying) {
		if (transfer->reading || our_now_ns() < transfer->look_ns)
			return 0;
		ret = our_post_send(control, OUR_BACK_BUFFER);
		transfer->reading = !ret;
		return ret;
	}
	length = our_take_typed(transfer, limit_ms, text);
	if (length >= 0)
		return say(control, text, (uint16_t)length);
	if (!transfer->at_end || transfer->told)
		return 0;
	transfer->told = true;
	return our_tell_count(control, &transfer->exchange, transfer->said);
}

/* One turn: takes a completion, or waits for one; if it waits for stdin, it has already waited. */
static int take_turn(struct our_control *control)
{
	struct our_transfer *transfer = control->transfer;
	bool typing = !transfer->saying && !transfer->at_end;
	struct our_completion completion;
	int ret = go_on(control, TURN_MS);
	uint64_t until_ns = typing ? 1 : our_now_ns() + TURN_NS;

	if (!ret)
		ret = our_await_time(control, until_ns, &completion);
	if (!ret)
		ret = our_agent_react(control, &completion);
	return ret == EAGAIN ? our_keep_waiting(control) : ret;
}

bool our_agent_is_done(const struct our_control *control)
{
	const struct our_transfer *transfer = control->transfer;

	return transfer->exchange.received[OUR_COUNT_TOLD] &&
	       transfer->exchange.sent[OUR_COUNT_TOLD];
}

/* A side that has sent its count has nothing more in our slot: each line was taken before. */
static int check_count(const struct our_control *control)
{
	const struct our_transfer *transfer = control->transfer;

	if (our_read_count(transfer->exchange.count, transfer->heard) == transfer->heard)
		return 0;
	our_report_sentence("the other side has said %llu lines, and %u were heard",
			    (unsigned long long)transfer->exchange.count, transfer->heard);
	return EPROTO;
}

/* We may know that it has left before we have taken its count, which came first. */
static int take_last_words(struct our_control *control, int end)
{
	struct our_completion completion;
	int ret = 0;

	while (!ret && !our_await_time(control, 1, &completion))
		ret = our_agent_react(control, &completion);
	return ret ? ret : end;
}

int our_talk(struct our_control *control)
{
	struct our_transfer *transfer = control->transfer;
	int ret = 0;

	setup_requests(control);
	our_statistics_start(&control->statistics);
	our_limit_wait(control, our_now_ns());
	while (!ret && !our_agent_is_done(control)) {
		ret = take_turn(control);
		if (!ret)
			ret = hear(control);
	}
	if (ret == ECONNRESET)
		ret = take_last_words(control, ret);
	/* The other side may leave as soon as it has our count, before we know that it was sent. */
	if (ret == ECONNRESET && transfer->told && transfer->exchange.received[OUR_COUNT_TOLD])
		ret = 0;
	our_close_buffer(&transfer->open);
	return ret ? ret : check_count(control);
}
