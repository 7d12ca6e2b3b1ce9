/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Transfer: work requests that are posted to the queue pair, and their completions: polled,
 * checked, and handed out one by one. See our_control.h, waiting.h, roles.h and private.h.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/private.h"

/* ---- Work requests ---- */

int our_report_post(const struct our_control *control, const char *call, int error)
{
	if (error == ENOTCONN && control->connected)
		return ECONNRESET;
	return our_tell_error(control->config, call, error, NULL);
}

/* Reports a full queue. The device may have granted more, but the CQ has no room for it. */
static int report_full(const struct our_control *control, const char *call, uint32_t most)
{
	return our_tell_error(control->config, call, ENOMEM,
			      "all %u that our_setup_qp was asked for are outstanding", most);
}

static void count_send(struct our_control *control, const struct ibv_send_wr *wr)
{
	struct our_posted *posted = &our_private(control)->posted;

	if (!posted->signaled)
		return;
	posted->signaled[(posted->first + posted->sends++) % posted->most_sends] =
		wr->send_flags & IBV_SEND_SIGNALED;
	posted->posted++;
}

/* A completion covers the unsignaled sends before it. If it failed, each of them has made its own. */
static void count_completion(struct our_posted *posted, const struct ibv_wc *wc)
{
	bool last = wc->wr_id == OUR_WR_ID_KEEPALIVE;

	if (our_is_recv(wc->wr_id)) {
		posted->recvs -= posted->recvs >
				 0; /* 0: the program has called ibv_post_recv itself */
		return;
	}
	while (posted->sends && !last) {
		last = posted->signaled[posted->first] || wc->status != IBV_WC_SUCCESS;
		posted->first = (posted->first + 1) % posted->most_sends;
		posted->sends--;
	}
}

/*
 * Posts a list. soft-iWARP's library may return 0 although it has posted only the first of them: it
 * returns the error when the others are posted alone. *bad is the first that is not posted.
 */
static int post_list(struct our_control *control, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct ibv_send_wr *first;
	int ret;

	do {
		first = wr;
		*bad = NULL;
		ret = OUR_CALL(ibv_post_send(control->qp, first, bad));
		if (ret && !*bad)
			*bad = first;
		for (; wr != *bad; wr = wr->next)
			count_send(control, wr);
		if (!ret && wr == first)
			ret = EIO;
	} while (!ret && wr);
	return ret ? our_report_post(control, "ibv_post_send", ret) : 0;
}

/* Returns the last request of the list that the queue has room for; NULL: not even the first. */
static struct ibv_send_wr *last_with_place(const struct our_control *control,
					   struct ibv_send_wr *wr)
{
	const struct our_posted *posted = &our_private(control)->posted;
	uint32_t places = posted->signaled ? posted->most_sends - posted->sends : UINT32_MAX;
	struct ibv_send_wr *last = NULL;

	for (; wr && places; wr = wr->next, places--)
		last = wr;
	return last;
}

int our_post(struct our_control *control, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct ibv_send_wr *last = last_with_place(control, wr), *rest = last ? last->next : wr,
			   *bad;
	int ret = 0;

	if (last) {
		last->next = NULL;
		ret = post_list(control, wr, &bad);
		last->next = rest;
	}
	if (!ret && rest) {
		bad = rest;
		ret = report_full(control, "ibv_post_send",
				  our_private(control)->posted.most_sends);
	}
	if (ret && bad_wr)
		*bad_wr = bad;
	return ret;
}

/*
 * Reports that `length` exceeds the buffer's `size`: the device would go on into the next buffer,
 * because both are in one MR.
 */
static int report_too_long(const struct our_control *control, uint32_t length, uint32_t size)
{
	return our_tell_error(control->config, "ibv_post_send", EINVAL,
			      "%u bytes of a buffer of %u", length, size);
}

int our_post_send(struct our_control *control, uint32_t index, uint32_t length)
{
	struct our_buffer *buffer = &control->memory.buffers[index];

	if (length > control->memory.size)
		return report_too_long(control, length, control->memory.size);
	buffer->send_sge.length = length;
	buffer->send_wr.opcode = IBV_WR_SEND;
	our_set_inline(control, &buffer->send_wr, length);
	return our_post(control, &buffer->send_wr, NULL);
}

static int post_one_sided(struct our_control *control, uint32_t index, uint32_t length,
			  uint64_t address, uint32_t rkey, enum ibv_wr_opcode opcode)
{
	struct our_buffer *buffer = &control->memory.buffers[index];

	if (length > control->memory.size)
		return report_too_long(control, length, control->memory.size);
	buffer->send_sge.length = length;
	buffer->send_wr.wr.rdma.remote_addr = address;
	buffer->send_wr.wr.rdma.rkey = rkey;
	buffer->send_wr.opcode = opcode;
	buffer->send_wr.send_flags = IBV_SEND_SIGNALED;
	if (opcode != IBV_WR_RDMA_READ)
		our_set_inline(control, &buffer->send_wr, length);
	return our_post(control, &buffer->send_wr, NULL);
}

int our_post_read(struct our_control *control, uint32_t index, uint32_t length, uint64_t address,
		  uint32_t rkey)
{
	return post_one_sided(control, index, length, address, rkey, IBV_WR_RDMA_READ);
}

int our_post_write(struct our_control *control, uint32_t index, uint32_t length, uint64_t address,
		   uint32_t rkey)
{
	return post_one_sided(control, index, length, address, rkey, IBV_WR_RDMA_WRITE);
}

int our_post_recvs(struct our_control *control, struct ibv_recv_wr *wr)
{
	struct our_posted *posted = &our_private(control)->posted;
	struct ibv_recv_wr *one, *bad = NULL;
	uint32_t n = 0;
	int ret;

	for (one = wr; one; one = one->next)
		n++;
	if (posted->counts_recvs && n > posted->most_recvs - posted->recvs)
		return report_full(control, "ibv_post_recv", posted->most_recvs);
	ret = OUR_CALL(ibv_post_recv(control->qp, wr, &bad));
	if (!ret && bad)
		ret = EIO;
	if (ret)
		return our_report_post(control, "ibv_post_recv", ret);
	posted->recvs += n;
	return 0;
}

int our_post_recv(struct our_control *control, uint32_t index)
{
	return our_post_recvs(control, &control->memory.buffers[index].recv_wr);
}

int our_post_send_from(struct our_control *control, const void *data, uint32_t length,
		       const struct ibv_mr *mr, uint64_t wr_id)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_sge sge;

	our_setup_sge(&sge, (void *)(uintptr_t)data, length, mr->lkey);
	wr.sg_list = &sge;
	our_set_inline(control, &wr, length);
	return our_post(control, &wr, NULL);
}

int our_post_recv_into(struct our_control *control, void *data, uint32_t length,
		       const struct ibv_mr *mr, uint64_t wr_id)
{
	struct ibv_sge sge;
	struct ibv_recv_wr wr = {
		.wr_id = OUR_WR_ID_RECV | wr_id,
		.sg_list = &sge,
		.num_sge = 1,
	};

	our_setup_sge(&sge, data, length, mr->lkey);
	return our_post_recvs(control, &wr);
}

int our_device_post_send(struct our_device *device, struct our_control *control, uint32_t index,
			 uint32_t length)
{
	struct our_buffer *buffer = &device->memory.buffers[index];
	int ret;

	buffer->send_wr.wr_id = OUR_WR_ID_ECHO | index;
	buffer->send_sge.length = length;
	our_set_inline(control, &buffer->send_wr, length);
	our_shared(device)->sending[index] = control;
	ret = length > device->memory.size ? report_too_long(control, length, device->memory.size)
					   : our_post(control, &buffer->send_wr, NULL);
	if (ret)
		our_device_post_recv(device, index); /* not sent, so no completion will return it */
	else
		control->device_sends++;
	return ret;
}

/* ---- Completions ---- */

static const char *wc_status_advice(const struct ibv_wc *wc)
{
	switch (wc->status) {
	case IBV_WC_LOC_QP_OP_ERR:
		if (!our_is_recv(wc->wr_id))
			return "the device could not send it: is its link down, or the peer gone?";
		/* soft-RoCE also reports a receive that is too short like this */
		/* fall through */
	case IBV_WC_LOC_LEN_ERR:
		return "most likely the message is longer than the buffer of the receive it met";
	case IBV_WC_REM_INV_REQ_ERR:
		return "the peer refused it: an RDMA operation that its QP does not allow, or a message "
		       "longer than its buffer";
	case IBV_WC_REM_OP_ERR: /* on soft-RoCE also for a message that is too long */
		return "the peer could not take it: it was just killed, or the message is longer than "
		       "its buffer";
	case IBV_WC_REM_ACCESS_ERR:
		return "the peer's memory may not be accessed so: a wrong rkey, an address outside its "
		       "region, no IBV_ACCESS_REMOTE_WRITE or _READ on the region, or it was just killed";
	case IBV_WC_LOC_PROT_ERR:
		return "a wrong lkey, a buffer outside its memory region, or no IBV_ACCESS_LOCAL_WRITE "
		       "on one that is to be written to";
	case IBV_WC_RETRY_EXC_ERR:
		return "the peer does not answer: its host, its process or the network is gone";
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return "the peer had no receive posted in any of the attempts; its rnr_retry_count says how "
		       "many it allows";
	default:
		return "see ibv_poll_cq(3)";
	}
}

/* Returns ECONNABORTED if the peer has gone or sent something invalid; else EPIPE or EIO. */
static int failure_of(const struct ibv_wc *wc)
{
	switch (wc->status) {
	case IBV_WC_RETRY_EXC_ERR:
	case IBV_WC_RNR_RETRY_EXC_ERR:
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_REM_OP_ERR:
	case IBV_WC_LOC_LEN_ERR:
		return ECONNABORTED;
	case IBV_WC_LOC_QP_OP_ERR: /* soft-RoCE: for a message that is longer than its receive */
		return our_is_recv(wc->wr_id) ? ECONNABORTED : EPIPE;
	default:
		return EIO;
	}
}

static int tell_wc(const struct our_control *control, const struct ibv_wc *wc)
{
	const struct our_config *config = control->config;
	struct our_error error = {
		.call = "ibv_poll_cq",
		.error = failure_of(wc),
		.wc = wc,
	};

	if (wc->wr_id == OUR_WR_ID_KEEPALIVE)
		error.text = config->waiting.cm->keepalive->explain(wc);
	if (!error.text)
		error.text = wc_status_advice(wc);
	if (config->report)
		config->report(config->context, &error);
	return error.error;
}

int our_check_completion_status(const struct our_control *control, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return ECONNRESET;
	if (wc->status != IBV_WC_SUCCESS) {
		/* We ended the connection ourselves: work under way may fail in any way. */
		if (our_stop_requested(control->stop))
			return EINTR;
		return tell_wc(control, wc);
	}
	return 0;
}

/*
 * On iWARP a server's send fails like this if TCP has already lost the client, which is no fault.
 * The CM will tell. A client is told at once: for it the end of the connection is a failure
 * anyway.
 */
static bool may_be_of_a_client_that_left(const struct our_control *control, const struct ibv_wc *wc)
{
	return wc->status == IBV_WC_LOC_QP_OP_ERR && !our_is_recv(wc->wr_id) &&
	       our_client_may_have_left(control) && !our_stop_requested(control->stop);
}

/* Returns `error`, with what is valid of a completion that has failed; the library's own stays its own. */
static int hand_out_failure(const struct ibv_wc *wc, struct our_completion *completion, int error)
{
	bool ours = wc->wr_id & OUR_WR_ID_OURS;

	*completion = (struct our_completion){
		.wr_id = wc->wr_id,
		.status = wc->status,
		.vendor_err = wc->vendor_err,
		.failure = ours ? NULL : ibv_wc_status_str(wc->status),
	};
	return error;
}

int our_hand_out_wc(struct our_control *control, const struct ibv_wc *wc,
		    struct our_completion *completion)
{
	int ret;

	count_completion(&our_private(control)->posted, wc);
	ret = may_be_of_a_client_that_left(control, wc) ? EPIPE
							: our_check_completion_status(control, wc);
	if (ret)
		return hand_out_failure(wc, completion, ret);
	*completion = (struct our_completion){
		.wr_id = wc->wr_id,
		.opcode = wc->opcode,
		.byte_len = wc->byte_len,
	};
	if (our_is_recv(wc->wr_id) && wc->wc_flags & IBV_WC_WITH_INV)
		completion->invalidated_rkey = wc->invalidated_rkey;
	completion->has_immediate = our_is_recv(wc->wr_id) && wc->wc_flags & IBV_WC_WITH_IMM;
	if (completion->has_immediate)
		completion->immediate = be32toh(wc->imm_data);
	return 0;
}

/* A message may be earlier than the event that says that the client is connected. */
static int hand_out(struct our_control *control, const struct ibv_wc *wc,
		    struct our_completion *completion)
{
	int ret = our_hand_out_wc(control, wc, completion);

	return ret || control->accepted ? ret : our_finish_connect(control);
}

int our_await_time(struct our_control *control, uint64_t until_ns,
		   struct our_completion *completion)
{
	uint64_t before_ns = control->wait_until_ns, limit_ns = before_ns ? before_ns : UINT64_MAX;
	int ret;

	control->wait_until_ns = until_ns < limit_ns ? until_ns : limit_ns;
	ret = our_await_completion(control, completion);
	control->wait_until_ns = before_ns;
	return ret == ETIMEDOUT && until_ns <= limit_ns ? EAGAIN : ret;
}

/* Refills the empty batch from the completions behind it. Returns their number. */
static int take_behind(struct our_private *one)
{
	int n = one->behind.n < OUR_POLL_BATCH ? one->behind.n : OUR_POLL_BATCH;

	if (!n)
		return 0;
	one->behind.n -= n;
	memcpy(one->batch.wc, one->behind.wc, (size_t)n * sizeof(*one->batch.wc));
	memmove(one->behind.wc, one->behind.wc + n,
		(size_t)one->behind.n * sizeof(*one->behind.wc));
	one->batch.next = 0;
	one->batch.polled = n;
	return n;
}

int our_poll_cq(struct our_control *control)
{
	struct our_batch *batch = &our_private(control)->batch;
	int polled;

	/* Completions that our_find_keepalive has found come first. */
	if (batch->next != batch->polled || take_behind(our_private(control)))
		return batch->polled - batch->next;
	polled = ibv_poll_cq(control->cq, OUR_POLL_BATCH, batch->wc);
	control->counters.polls++;
	if (polled < 0)
		return -our_tell_error(control->config, "ibv_poll_cq", EIO, NULL);
	if (!polled) {
		control->counters.empty_polls++;
		return 0;
	}
	control->counters.completions += (uint64_t)polled;
	batch->next = 0;
	batch->polled = polled;
	return polled;
}

/* Returns true if a keepalive was answered, which the program is not told. */
static bool is_answer(struct our_control *control, const struct ibv_wc *wc)
{
	if (wc->wr_id != OUR_WR_ID_KEEPALIVE || wc->status != IBV_WC_SUCCESS)
		return false;
	control->counters.completions--;
	control->config->waiting.cm->keepalive->answered(control);
	our_changed(control);
	return true;
}

/* Polls the CQ for as many completions as there is room for, in wcs[*n] to wcs[most - 1]. */
static int poll_into(struct our_control *control, struct ibv_wc *wcs, int *n, int most)
{
	int polled = ibv_poll_cq(control->cq, most - *n, wcs + *n);

	if (polled < 0)
		return our_tell_error(control->config, "ibv_poll_cq", EIO, NULL);
	control->counters.completions += (uint64_t)polled;
	*n += polled;
	return 0;
}

/* The program may have resized the CQ since there was room for all. */
static int make_room_behind(struct our_control *control)
{
	struct our_behind *behind = &our_private(control)->behind;
	int room = control->cq->cqe;
	struct ibv_wc *wc;

	if (room <= behind->room)
		return 0;
	wc = realloc(behind->wc, (size_t)room * sizeof(*wc));
	if (!wc)
		return our_tell_error(control->config, "realloc", ENOMEM, NULL);
	behind->wc = wc;
	behind->room = room;
	return 0;
}

/* Polls the CQ empty, and keeps the completions in order, behind those at hand. */
static int poll_all(struct our_control *control)
{
	struct our_batch *batch = &our_private(control)->batch;
	struct our_behind *behind = &our_private(control)->behind;
	int ret;

	batch->polled -= batch->next;
	memmove(batch->wc, batch->wc + batch->next, (size_t)batch->polled * sizeof(*batch->wc));
	batch->next = 0;
	ret = behind->n ? 0 : poll_into(control, batch->wc, &batch->polled, OUR_POLL_BATCH);
	if (ret || (!behind->n && batch->polled < OUR_POLL_BATCH))
		return ret;
	ret = make_room_behind(control);
	return ret ? ret : poll_into(control, behind->wc, &behind->n, behind->room);
}

/* Removes a keepalive's completion from wcs[0] to wcs[*n - 1]. Returns whether it was there. */
static bool take_out(struct ibv_wc *wcs, int *n, struct ibv_wc *wc)
{
	int i = 0;

	while (i < *n && wcs[i].wr_id != OUR_WR_ID_KEEPALIVE)
		i++;
	if (i == *n)
		return false;
	*wc = wcs[i];
	--*n;
	memmove(wcs + i, wcs + i + 1, (size_t)(*n - i) * sizeof(*wc));
	return true;
}

/* Removes a keepalive's completion from those at hand. Returns 0 and *wc, EAGAIN, or an error. */
static int take_keepalive(struct our_control *control, struct ibv_wc *wc)
{
	struct our_private *one = our_private(control);
	int ret = poll_all(control);

	if (ret)
		return ret;
	return take_out(one->batch.wc, &one->batch.polled, wc) ||
			       take_out(one->behind.wc, &one->behind.n, wc)
		       ? 0
		       : EAGAIN;
}

int our_find_keepalive(struct our_control *control)
{
	struct our_completion none;
	struct ibv_wc wc;
	int ret = our_shares_cq(control) ? our_device_take_keepalive(control, &wc)
					 : take_keepalive(control, &wc);

	if (ret)
		return ret;
	return is_answer(control, &wc) ? 0 : our_hand_out_wc(control, &wc, &none);
}

/* Returns `error`, which no completion of the program's has brought. */
static int hand_out_none(struct our_completion *completion, int error)
{
	completion->failure = NULL;
	return error;
}

/* ---- Sends that do not complete ---- */

static bool is_send(const struct ibv_wc *wc)
{
	return !our_is_recv(wc->wr_id) && wc->wr_id != OUR_WR_ID_KEEPALIVE;
}

static bool has_send(const struct ibv_wc *wc, int n)
{
	while (n && !is_send(&wc[n - 1]))
		n--;
	return n;
}

/* Returns 0: the program has taken the completions of all sends; EBUSY: not; or an errno value. */
static int find_send(struct our_control *control)
{
	const struct our_private *one = our_private(control);
	int ret = our_shares_cq(control) ? our_device_find_send(control) : poll_all(control);

	if (ret || our_shares_cq(control))
		return ret;
	return has_send(one->batch.wc, one->batch.polled) || has_send(one->behind.wc, one->behind.n)
		       ? EBUSY
		       : 0;
}

/* Returns how many sends were posted, but for those after the last that makes a completion. */
static uint64_t must_complete(const struct our_posted *posted)
{
	uint32_t n = posted->sends;

	while (n && !posted->signaled[(posted->first + n - 1) % posted->most_sends])
		n--;
	return posted->posted - posted->sends + n;
}

int our_look_at_sends(struct our_control *control, uint64_t now_ns)
{
	struct our_posted *posted = &our_private(control)->posted;
	uint64_t before = posted->due[0], limit_ns = control->config->stall_s * OUR_NS_PER_S;
	int ret;

	our_private(control)->look_at_sends_ns = now_ns + limit_ns / 2;
	posted->due[0] = posted->due[1];
	posted->due[1] = must_complete(posted);
	if (posted->posted - posted->sends >= before)
		return 0;
	ret = find_send(control);
	if (ret)
		return ret == EBUSY ? 0 : ret;
	return our_tell_error(
		control->config, NULL, ECONNABORTED,
		"a send has not completed for %u s: the peer posts no receive for it, "
		"or its host does not answer",
		control->config->stall_s);
}

/* Takes the next completion; calls `poll` if none is at hand. */
static int next_wc(struct our_control *control, int (*poll)(struct our_control *control),
		   const struct ibv_wc **wc)
{
	struct our_batch *batch = &our_private(control)->batch;
	int ret;

	do {
		ret = batch->next == batch->polled ? poll(control) : 0;
		if (ret)
			return ret;
		*wc = &batch->wc[batch->next++];
	} while (is_answer(control, *wc));
	return 0;
}

int our_await_completion(struct our_control *control, struct our_completion *completion)
{
	const struct ibv_wc *wc;
	int ret;

	our_private(control)->until_ns = 0;
	ret = next_wc(control, control->config->waiting.completions->await, &wc);
	return ret ? hand_out_none(completion, ret) : hand_out(control, wc, completion);
}

int our_take_next_wc(struct our_control *control, const struct ibv_wc **wc)
{
	return next_wc(control, control->config->waiting.completions->take, wc);
}

int our_completions_at_hand(const struct our_control *control)
{
	const struct our_batch *batch = &our_private(control)->batch;
	const struct our_behind *behind = &our_private(control)->behind;
	int i, n = 0;

	for (i = batch->next; i < batch->polled; i++)
		n += batch->wc[i].wr_id != OUR_WR_ID_KEEPALIVE;
	for (i = 0; i < behind->n; i++)
		n += behind->wc[i].wr_id != OUR_WR_ID_KEEPALIVE;
	return n;
}

int our_take_completion(struct our_control *control, struct our_completion *completion)
{
	const struct ibv_wc *wc;
	int ret = our_take_next_wc(control, &wc);

	return ret ? hand_out_none(completion, ret) : hand_out(control, wc, completion);
}

int our_completion_fd(const struct our_control *control)
{
	const struct our_completion_ops *completions = control->config->waiting.completions;

	return completions->fd && control->cq && !our_shares_cq(control) ? completions->fd(control)
									 : -1;
}

/* ---- Completions of a CQ that connections share ---- */

static bool is_echo(const struct ibv_wc *wc)
{
	return wc->wr_id >> 32 == OUR_WR_ID_ECHO >> 32;
}

/* Hands out one completion. Returns EAGAIN if it is not one for the user. */
static int take_one(struct our_device *device, const struct ibv_wc *wc,
		    struct our_control **control, struct our_completion *completion)
{
	struct our_control *owner = our_control_of(device, wc->qp_num);
	int ret, posted;

	if (!owner) { /* the buffer of a send was given back when the connection ended */
		ret = our_device_post_again(device, NULL, wc);
		return ret ? ret : EAGAIN;
	}
	owner->counters.completions++;
	if (is_answer(owner, wc))
		return EAGAIN;
	*control = owner;
	ret = hand_out(owner, wc, completion);
	owner->device_sends -= is_echo(wc);
	/* The buffer has been sent, or never will be. */
	posted = is_echo(wc) ? our_device_post_recv(device, (uint32_t)wc->wr_id) : 0;
	if (ret && !posted)
		posted = our_device_post_again(device, owner, wc);
	if (posted)
		*control = NULL;
	if (posted || ret)
		return posted ? posted : ret;
	return is_echo(wc) ? EAGAIN : 0;
}

int our_device_take_completion(struct our_device *device, struct our_control **control,
			       struct our_completion *completion)
{
	const struct ibv_wc *wc;
	int ret;

	do {
		*control = NULL;
		completion->failure = NULL;
		ret = our_device_next_wc(device, &wc);
		if (ret)
			return ret;
		ret = take_one(device, wc, control, completion);
	} while (ret == EAGAIN);
	return ret;
}
