/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Transfer completion layer: checking completions. See transfer_completion.h.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "common/private.h"

static const char *wc_status_advice(const struct ibv_wc *wc)
{
	bool refused = wc->status == IBV_WC_REM_INV_REQ_ERR || wc->status == IBV_WC_REM_OP_ERR ||
		       wc->status == IBV_WC_REM_ACCESS_ERR;
	bool confused = wc->status == IBV_WC_LOC_PROT_ERR || wc->status == IBV_WC_GENERAL_ERR;

	if (refused && wc->wr_id == OUR_WR_ID_KEEPALIVE)
		return "the peer lets nobody write to it, not even nothing: do without";
	if (confused && wc->wr_id == OUR_WR_ID_KEEPALIVE)
		return "most likely the peer was sending: then soft-iWARP gives a wrong answer to a "
		       "keepalive (docs/drivers.md); do without";
	switch (wc->status) {
	case IBV_WC_LOC_QP_OP_ERR:
		if (!our_is_recv(wc->wr_id))
			return "the device could not send it: is its link down, or the peer gone?";
		/* soft-RoCE reports a receive that is too short like this, too */
		/* fall through */
	case IBV_WC_LOC_LEN_ERR:
		return "most likely the message is longer than the buffer of the receive it met";
	case IBV_WC_REM_INV_REQ_ERR:
		return "the peer refused it: an RDMA operation that its QP does not allow, or a message "
		       "longer than its buffer";
	case IBV_WC_REM_OP_ERR: /* on soft-RoCE for a message that is too long, too */
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
		return "the peer had no receive posted, again and again";
	default:
		return "see ibv_poll_cq(3)";
	}
}

/* Which side has failed. The peer: it is gone, or has sent or posted something invalid. */
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

static int tell_wc(const struct our_config *config, const struct ibv_wc *wc)
{
	struct our_error error = {
		.call = "ibv_poll_cq",
		.error = failure_of(wc),
		.wc = wc,
		.text = wc_status_advice(wc),
	};

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
		return tell_wc(control->config, wc);
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

int our_take_wc(struct our_control *control, const struct ibv_wc *wc,
		struct our_completion *completion)
{
	struct our_keepalive *keepalive = &our_private(control)->keepalive;
	int ret;

	if (!our_is_recv(wc->wr_id) && keepalive->sends) /* not of a verb called by the program */
		keepalive->sends--;
	if (may_be_of_a_client_that_left(control, wc))
		return EPIPE;
	ret = our_check_completion_status(control, wc);
	if (ret)
		return ret;
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

int our_take_out_keepalive(struct our_control *control, struct ibv_wc *wc, int polled)
{
	int i = 0;

	while (i < polled && wc[i].wr_id != OUR_WR_ID_KEEPALIVE)
		i++;
	if (i >= polled || wc[i].status != IBV_WC_SUCCESS)
		return polled;
	memmove(&wc[i], &wc[i + 1], (size_t)(polled - i - 1) * sizeof(*wc));
	our_private(control)->keepalive.under_way = false;
	our_private(control)->keepalive.due_ns = 0; /* the time of silence starts again */
	return polled - 1;
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
