/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The conversation of a flattened program. One that has nothing to say READs the other side's slot now and
 * then, too: if that side's host is gone, the READ fails.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/memory_registration.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "measure/clock.h"
#include "ping-rdma-1/one_sided.h"
#include "program/report.h"
#include "talk-rdma-0/talk.h"

#define IDLE_NS (5 * OUR_NS_PER_S) /* from one READ to the next */

/* WRITEs our line, or READs back, so many bytes from `offset` on of the other side's slot. */
static int post_request(struct our_control *control, enum ibv_wr_opcode opcode, uint32_t offset,
			uint32_t length)
{
	struct our_transfer *transfer = control->transfer;
	int buffer = opcode == IBV_WR_RDMA_READ ? OUR_BACK_BUFFER : OUR_LINE_BUFFER;
	struct ibv_sge sge = {
		.addr = (uintptr_t)(transfer->memory[buffer] + offset),
		.length = length,
		.lkey = transfer->mr[buffer]->lkey,
	};
	struct ibv_send_wr *bad_wr, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
	};
	int ret;

	if (opcode == IBV_WR_RDMA_READ) /* its completion covers the WRITEs before it */
		wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma.remote_addr = transfer->exchange.buffer.address + offset;
	wr.wr.rdma.rkey = transfer->exchange.buffer.rkey;
	ret = ibv_post_send(control->qp, &wr, &bad_wr);
	return ret ? our_judge_post(control, "ibv_post_send", ret) : 0;
}

static int look(struct our_control *control)
{
	int ret = post_request(control, IBV_WR_RDMA_READ, 0, OUR_SLOT);

	control->transfer->reading = !ret;
	return ret;
}

/* The text first, the mark after it, and after both the READ. */
static int say(struct our_control *control, const uint8_t *text, uint16_t length)
{
	struct our_transfer *transfer = control->transfer;
	uint8_t *line = transfer->memory[OUR_LINE_BUFFER];
	uint64_t mark = our_make_mark(transfer->said + 1, text, length);
	int ret = 0;

	memcpy(line, text, length);
	memcpy(line + OUR_SLOT_MARK, &mark, sizeof(mark));
	transfer->length = length;
	transfer->saying = true;
	if (length)
		ret = post_request(control, IBV_WR_RDMA_WRITE, 0, length);
	if (!ret)
		ret = post_request(control, IBV_WR_RDMA_WRITE, OUR_SLOT_MARK, sizeof(mark));
	return ret ? ret : look(control);
}

/* Checks that what has been read back is what we wrote, and whether it has been taken. */
static int look_back(struct our_control *control)
{
	struct our_transfer *transfer = control->transfer;
	const uint8_t *back = transfer->memory[OUR_BACK_BUFFER];
	const uint8_t *line = transfer->memory[OUR_LINE_BUFFER];

	transfer->reading = false;
	if (transfer->saying &&
	    (memcmp(back, line, transfer->length) ||
	     memcmp(back + OUR_SLOT_MARK, line + OUR_SLOT_MARK, sizeof(uint64_t)))) {
		our_report_sentence("line %u is not in the other side's memory as it was written",
				    transfer->said + 1);
		return EBADMSG;
	}
	if (transfer->saying && our_seen(back) == transfer->said + 1) {
		transfer->said++;
		transfer->saying = false;
		control->statistics.messages++;
	}
	transfer->look_ns = our_now_ns() + (transfer->saying ? TURN_NS : IDLE_NS);
	return 0;
}

/* Prints what the other side has said, and only then says that it may be overwritten. */
static int hear(struct our_control *control)
{
	struct our_transfer *transfer = control->transfer;
	uint8_t *slot = transfer->memory[OUR_SLOT_BUFFER], text[OUR_SLOT_TEXT];
	int length = our_look_at_slot(slot, transfer->heard + 1, text);

	if (length < 0)
		return 0;
	if (fwrite(text, 1, (size_t)length, stdout) != (size_t)length || putchar('\n') == EOF ||
	    fflush(stdout))
		return our_report_error("stdout", errno, NULL);
	our_note_seen(slot, ++transfer->heard);
	return 0;
}

/* Our next step: a look at the last line, a new one, or the message that there are no more. */
static int go_on(struct our_control *control, int limit_ms)
{
	struct our_transfer *transfer = control->transfer;
	uint8_t text[OUR_SLOT_TEXT];
	int length;

	if (transfer->reading || transfer->told)
		return 0;
	if (our_now_ns() >= transfer->look_ns)
		return look(control);
	if (transfer->saying)
		return 0;
	length = our_take_typed(transfer, limit_ms, text);
	if (length >= 0)
		return say(control, text, (uint16_t)length);
	if (!transfer->at_end)
		return 0;
	transfer->told = true;
	return our_tell_count(control, &transfer->exchange, transfer->said);
}

/* One turn: takes a completion, or waits for one; if it waits for stdin, it has already waited. */
static int take_turn(struct our_control *control)
{
	struct our_transfer *transfer = control->transfer;
	bool typing = !transfer->saying && !transfer->reading && !transfer->at_end;
	struct our_completion completion;
	int ret = go_on(control, TURN_MS);

	if (!ret)
		ret = our_await_time(control, typing ? 1 : our_now_ns() + TURN_NS, &completion);
	if (!ret)
		ret = our_agent_react(control, &completion);
	return ret == EAGAIN ? our_keep_waiting(control) : ret;
}

int our_talk(struct our_control *control)
{
	struct our_transfer *transfer = control->transfer;
	int ret = 0;

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
	our_close_buffer(&transfer->mr[OUR_SLOT_BUFFER]);
	return ret ? ret : check_count(control);
}
