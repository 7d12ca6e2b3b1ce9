/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * talk-rdma-0: the conversation. Each side WRITEs a line into the other's slot, and READs that back
 * until it shows that the line was taken. Meanwhile it looks at its own slot.
 */
#include <errno.h>
#include <string.h>

#include "beyond/talk-rdma-0/talk.h"
#include "common/clock.h"
#include "common/roles.h"
#include "program/measure/run.h"
#include "program/report.h"

#define TURN_MS 10
#define TURN_NS (TURN_MS * (OUR_NS_PER_S / 1000))

int our_setup_talk(struct our_control *control, struct our_talk *talk)
{
	int ret;

	/*
	 * ibv_alloc_pd, ibv_create_cq, rdma_create_qp, ibv_reg_mr, ibv_post_recv. The send queue
	 * has a place for each buffer, so there is room for the three requests of a line: text,
	 * mark and READ.
	 */
	ret = our_setup_one_sided(control, &talk->one_sided, OUR_TALK_BUFFERS, OUR_SLOT_BUFFER,
				  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (ret)
		return ret;
	/* ibv_reg_mr: a second region of the buffer to READ into */
	ret = our_open_buffer(control, OUR_BACK_BUFFER, our_access_for_reads(control), &talk->sink);
	if (ret) {
		our_destroy_qp(control); /* its receives point into the memory */
		our_unsetup_one_sided(control, &talk->one_sided);
	}
	return ret;
}

void our_unsetup_talk(struct our_control *control, struct our_talk *talk)
{
	our_close_buffer(control, &talk->sink);
	our_unsetup_one_sided(control, &talk->one_sided);
}

void our_begin_talk(struct our_control *control)
{
	struct our_run *run = our_run_of(control);

	our_prepare_run(run);
	run->statistics.warm_up = 0; /* a conversation repeats nothing */
	control->wait_until_ns = our_end_of_wait(OUR_SERVER_TIMEOUT); /* for the first word */
}

int our_check_slot(struct our_control *control, const struct our_talk *talk)
{
	int ret = our_check_remote_buffer(control, &talk->one_sided.exchange.buffer);

	return ret ? ret : our_learn_read_depth(control); /* ibv_query_qp */
}

int our_end_talk(struct our_control *control, const struct our_talk *talk, int ret)
{
	struct our_run *run = our_run_of(control);

	our_statistics_end(&run->statistics);
	if (!run->options->quiet)
		our_report_sentence("%u lines said, %u heard", talk->said, talk->heard);
	/* The other side announces that it has no more to say; leaving without that is an error. */
	run->count = talk->heard;
	return our_judge_end(run, ret, talk->heard);
}

/*
 * Chains the text, the mark after it, and after both the READ, whose completion covers the WRITEs.
 */
static void setup_requests(struct our_control *control, struct our_talk *talk)
{
	struct our_buffer *line = &control->memory.buffers[OUR_LINE_BUFFER];

	our_setup_write_wr(control, OUR_LINE_BUFFER, &talk->one_sided.exchange.buffer);
	our_setup_read_wr(control, OUR_BACK_BUFFER, &talk->one_sided.exchange.buffer);
	control->memory.buffers[OUR_BACK_BUFFER].send_sge.lkey = talk->sink->lkey;
	talk->text_wr = line->send_wr;
	talk->text_wr.send_flags = 0;
	talk->text_wr.sg_list = &talk->text_sge;
	talk->text_wr.next = &talk->mark_wr;
	talk->mark_wr = talk->text_wr;
	talk->mark_wr.sg_list = &talk->mark_sge;
	talk->mark_wr.wr.rdma.remote_addr += OUR_SLOT_MARK;
	talk->mark_wr.next = &control->memory.buffers[OUR_BACK_BUFFER].send_wr;
}

static int say(struct our_control *control, struct our_talk *talk, const uint8_t *text,
	       uint16_t length)
{
	uint8_t *line = control->memory.buffers[OUR_LINE_BUFFER].data;
	uint64_t mark = our_make_mark(talk->said + 1, text, length);
	uint32_t lkey = control->memory.mr->lkey;
	int ret;

	memcpy(line, text, length);
	memcpy(line + OUR_SLOT_MARK, &mark, sizeof(mark));
	our_setup_sge(&talk->text_sge, line, length, lkey);
	our_setup_sge(&talk->mark_sge, line + OUR_SLOT_MARK, sizeof(mark), lkey);
	talk->said_ns = our_now_ns();
	ret = our_post(control, length ? &talk->text_wr : &talk->mark_wr, NULL); /* ibv_post_send */
	if (ret)
		return ret;
	talk->saying = talk->reading = true;
	return 0;
}

/* Checks that what has been read back is what we wrote, and whether it has been taken. */
static int look_back(struct our_control *control, struct our_talk *talk)
{
	struct our_run *run = our_run_of(control);
	const uint8_t *back = control->memory.buffers[OUR_BACK_BUFFER].data;
	const uint8_t *line = control->memory.buffers[OUR_LINE_BUFFER].data;
	uint64_t now_ns = our_now_ns();

	talk->reading = false;
	talk->look_ns = now_ns + TURN_NS;
	if (memcmp(back, line, talk->text_sge.length) ||
	    memcmp(back + OUR_SLOT_MARK, line + OUR_SLOT_MARK, sizeof(uint64_t))) {
		our_report_sentence("line %u is not in the other side's memory as it was written",
				    talk->said + 1);
		return EBADMSG;
	}
	if (our_seen(back) == talk->said + 1) {
		talk->said++;
		talk->saying = false;
		run->statistics.messages++;
		our_histogram_add(&run->statistics.round_trips, now_ns - talk->said_ns);
		our_limit_wait(run, now_ns);
	}
	return 0;
}

static int react(struct our_control *control, struct our_talk *talk,
		 const struct our_completion *completion)
{
	struct our_exchange *exchange = &talk->one_sided.exchange;
	int ret;

	if (!our_is_exchange(completion->wr_id))
		return look_back(control, talk);
	ret = our_take_exchange(exchange, completion);
	if (!ret && our_is_recv(completion->wr_id) && exchange->received[OUR_COUNT_TOLD] &&
	    !talk->told && !our_options_of(control)->quiet)
		our_report_sentence("the other side has no more to say; Ctrl-D ends this one");
	return ret;
}

/* Prints what the other side has said, and only then says that it may be overwritten. */
static int hear(struct our_control *control, struct our_talk *talk)
{
	uint8_t *slot = control->memory.buffers[OUR_SLOT_BUFFER].data, text[OUR_SLOT_TEXT];
	int ret, length = our_look_at_slot(slot, talk->heard + 1, text);

	if (length < 0)
		return 0;
	ret = our_show_line(text, (size_t)length);
	if (ret)
		return ret;
	our_note_seen(slot, ++talk->heard);
	our_limit_wait(our_run_of(control), our_now_ns());
	return 0;
}

/* Takes our next step: a new line, a look at the last one, or the message that there are no more. */
static int go_on(struct our_control *control, struct our_talk *talk, int limit_ms)
{
	uint8_t text[OUR_SLOT_TEXT];
	int length, ret;

	if (talk->saying) {
		if (talk->reading || our_now_ns() < talk->look_ns)
			return 0;
		ret = our_post(control, &control->memory.buffers[OUR_BACK_BUFFER].send_wr, NULL);
		talk->reading = !ret;
		return ret;
	}
	length = our_take_typed(talk, limit_ms, text);
	if (length >= 0)
		return say(control, talk, text, (uint16_t)length);
	if (!talk->at_end || talk->told)
		return 0;
	talk->told = true;
	return our_tell_count(control, &talk->one_sided.exchange, talk->said);
}

/* Takes a completion, or waits for one, unless the turn has already waited for stdin. */
static int take_turn(struct our_control *control, struct our_talk *talk)
{
	bool typing = !talk->saying && !talk->at_end;
	struct our_completion completion;
	int ret = go_on(control, talk, TURN_MS);
	uint64_t until_ns = typing ? 1 : our_now_ns() + TURN_NS;

	if (!ret)
		ret = our_await_time(control, until_ns, &completion);
	if (!ret)
		ret = react(control, talk, &completion);
	return ret == EAGAIN ? our_keep_waiting(control) : ret;
}

static bool is_done(const struct our_talk *talk)
{
	const struct our_exchange *exchange = &talk->one_sided.exchange;

	return exchange->received[OUR_COUNT_TOLD] && exchange->sent[OUR_COUNT_TOLD];
}

/* A side that has sent its count has nothing more in our slot: each line was taken before. */
static int check_count(const struct our_talk *talk)
{
	if (our_read_count(talk->one_sided.exchange.count, talk->heard) == talk->heard)
		return 0;
	our_report_sentence("the other side has said %llu lines, and %u were heard",
			    (unsigned long long)talk->one_sided.exchange.count, talk->heard);
	return EPROTO;
}

/* We may know that the peer has left before we have taken its count, which came first. */
static int take_last_words(struct our_control *control, struct our_talk *talk, int end)
{
	struct our_completion completion;
	int ret = 0;

	while (!ret && !our_await_time(control, 1, &completion))
		ret = react(control, talk, &completion);
	return ret ? ret : end;
}

int our_talk(struct our_control *control, struct our_talk *talk)
{
	struct our_run *run = our_run_of(control);
	int ret = 0;

	setup_requests(control, talk);
	our_start_measuring(run);
	our_limit_wait(run, our_now_ns());
	while (!ret && !is_done(talk)) {
		ret = take_turn(control, talk);
		if (!ret)
			ret = hear(control, talk);
	}
	if (ret == ECONNRESET)
		ret = take_last_words(control, talk, ret);
	/* The other side may leave as soon as it has our count, before we know that it was sent. */
	if (ret == ECONNRESET && talk->told && talk->one_sided.exchange.received[OUR_COUNT_TOLD])
		ret = 0;
	if (ret) /* the other side may still WRITE: our_unsetup_talk closes it after the disconnect */
		return ret;
	our_close_buffer(control, &talk->one_sided.open);
	return check_count(talk);
}
