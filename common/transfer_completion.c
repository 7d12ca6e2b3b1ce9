/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Transfer completion layer: checking completions. See transfer_completion.h.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/async_events.h"
#include "common/connection_management.h"
#include "common/device.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "program/report.h"
#include "program/stop.h"

static const char *name_of(const struct ibv_wc *wc)
{
	if (our_is_recv(wc->wr_id))
		return "receive";
	return wc->wr_id == OUR_WR_ID_KEEPALIVE ? "keepalive" : "send, write or read";
}

static const char *wc_status_advice(const struct ibv_wc *wc)
{
	bool refused = wc->status == IBV_WC_REM_INV_REQ_ERR || wc->status == IBV_WC_REM_OP_ERR ||
		       wc->status == IBV_WC_REM_ACCESS_ERR;
	bool confused = wc->status == IBV_WC_LOC_PROT_ERR || wc->status == IBV_WC_GENERAL_ERR;

	if (refused && wc->wr_id == OUR_WR_ID_KEEPALIVE)
		return "the peer lets nobody write to it, not even nothing: do without, by --keepalive 0";
	if (confused && wc->wr_id == OUR_WR_ID_KEEPALIVE)
		return "most likely the peer was sending: then soft-iWARP gives a wrong answer to a "
		       "keepalive (docs/drivers.md); do without, by --keepalive 0";
	switch (wc->status) {
	case IBV_WC_LOC_QP_OP_ERR:
		if (!our_is_recv(wc->wr_id))
			return "the device could not send it: is its link down, or the peer gone?";
		/* soft-RoCE reports a receive that is too short like this, too */
		/* fall through */
	case IBV_WC_LOC_LEN_ERR:
		return "most likely the message is longer than the buffer of the receive it met: were both sides "
		       "started with the same -s?";
	case IBV_WC_REM_INV_REQ_ERR:
		return "the peer refused it: a message longer than its buffer (were both sides started "
		       "with the same -s?), or an RDMA operation that its QP does not allow";
	case IBV_WC_REM_OP_ERR: /* on soft-RoCE for a message that is too long, too */
		return "the peer could not take it: it was just killed, or the message is longer than "
		       "its buffer (were both sides started with the same -s?)";
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
		return "see ibv_poll_cq(3) and docs/pitfalls.md";
	}
}

void our_report_wc_status(const struct ibv_wc *wc)
{
	our_report_sentence("completion of the %s with wr_id 0x%" PRIx64
			    " on QP 0x%x: %s (status %d, "
			    "vendor 0x%x): %s",
			    name_of(wc), wc->wr_id, wc->qp_num, ibv_wc_status_str(wc->status),
			    wc->status, wc->vendor_err, wc_status_advice(wc));
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

int our_check_completion_status(const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return ECONNRESET;
	if (wc->status != IBV_WC_SUCCESS) {
		/* We ended the connection ourselves: work under way may fail in any way. */
		if (our_stop_requested())
			return EINTR;
		our_report_wc_status(wc);
		return failure_of(wc);
	}
	return 0;
}

/*
 * On iWARP a server's send fails like this if TCP has already lost the client, which is no fault. The
 * CM will tell. A client is told at once: for it the end of the connection is a failure anyway.
 */
static bool may_be_of_a_client_that_left(const struct our_control *control, const struct ibv_wc *wc)
{
	return wc->status == IBV_WC_LOC_QP_OP_ERR && !our_is_recv(wc->wr_id) &&
	       our_client_may_have_left(control) && !our_stop_requested();
}

int our_take_wc(struct our_control *control, const struct ibv_wc *wc,
		struct our_completion *completion)
{
	int ret;

	if (may_be_of_a_client_that_left(control, wc))
		return EPIPE;
	ret = our_check_completion_status(wc);
	if (ret)
		return ret;
	*completion = (struct our_completion){ .wr_id = wc->wr_id, .byte_len = wc->byte_len };
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
	control->keepalive.under_way = false;
	control->keepalive.due_ns = 0; /* the time of silence starts again */
	return polled - 1;
}

int our_await_time(struct our_control *control, uint64_t until_ns,
		   struct our_completion *completion)
{
	uint64_t limit_ns = control->wait_until_ns;
	int ret;

	control->wait_until_ns = until_ns < limit_ns ? until_ns : limit_ns;
	ret = our_await_completion(control, completion);
	control->wait_until_ns = limit_ns;
	return ret == ETIMEDOUT && until_ns <= limit_ns ? EAGAIN : ret;
}

int our_check_length(const struct our_control *control, const struct our_completion *completion)
{
	if (completion->byte_len == control->data_size)
		return 0;
	our_report_sentence(
		"received a message of %u bytes where %u were expected: were both sides "
		"started with the same -s?",
		completion->byte_len, control->data_size);
	return EPROTO;
}

bool our_client_may_have_left(const struct our_control *control)
{
	return !strcmp(control->role, "agent") && our_is_iwarp(control);
}

bool our_flush_may_be_early(const struct our_control *control)
{
	return our_is_iwarp(control);
}

/*
 * What has ended a connection on which a work request was flushed, as the CM reports it; ECANCELED:
 * the CM reports nothing, and the flush has another cause. Returns an errno value, for report_end
 * or reported.
 */
static int cause_of_flush(struct our_control *control)
{
	int end = our_cm_end(control), ret = 0;

	if (!end) {
		/*
		 * On other transports the cause is the removal of the device, or a thread that has
		 * not reported yet.
		 */
		ret = our_await_disconnect(control,
					   our_flush_may_be_early(control) ? OUR_FLUSH_LIMIT_S : 1);
		end = our_cm_end(control);
	}
	if (ret == EINTR)
		return ret;
	return end ? end : ECANCELED;
}

/* A send to the client has failed, and the CM has said why (ECONNRESET) or not (ECANCELED). */
static int report_unsent(int ret, uint64_t messages)
{
	if (ret == ECONNRESET) {
		our_report_sentence(
			"the client left after %" PRIu64
			" messages; what was sent to it last failed (local QP operation error)",
			messages);
		return ret;
	}
	our_report_sentence(
		"after %" PRIu64 " messages the device could not send (local QP operation error, "
		"IBV_EVENT_QP_FATAL), although the client has not disconnected: is its link up?",
		messages);
	return ECONNABORTED;
}

static bool is_agent(const struct our_control *control)
{
	return !strcmp(control->role, "agent");
}

static void report_end(struct our_control *control, int ret, uint64_t messages)
{
	const char *peer = is_agent(control) ? "client" : "server";

	if (ret == ECONNRESET)
		our_report_sentence("the %s left after %" PRIu64 " messages", peer, messages);
	if (ret == ENODEV && ret == our_cm_end(control))
		our_report_sentence("the RDMA device was removed after %" PRIu64
				    " messages (RDMA_CM_EVENT_DEVICE_REMOVAL)",
				    messages);
	if (ret == EHOSTUNREACH && ret == our_cm_end(control))
		our_report_sentence("the %s cannot be reached any more, after %" PRIu64
				    " messages (RDMA_CM_EVENT_UNREACHABLE)",
				    peer, messages);
	if (ret == ECANCELED)
		our_report_sentence("a work request was flushed after %" PRIu64
				    " messages, although the %s has not disconnected: %s could not "
				    "send, and its driver does not say why: is its link up?",
				    messages, peer,
				    is_agent(control)
					    ? "it asked for what it has no right to, or our device"
					    : "most likely the device");
	if (ret == ETIMEDOUT && our_now_ns() >= control->give_up_ns)
		our_report_sentence("waited in vain for the %s's answer to message %" PRIu64
				    ", until %u s after the end of -D %" PRIu64
				    ": is the link up, and the %s still there?",
				    peer, messages, OUR_GRACE_S, control->options->duration_s,
				    peer);
	else if (ret == ETIMEDOUT)
		our_report_sentence("the %s said nothing for %" PRIu64 " s, after %" PRIu64
				    " messages",
				    peer, control->options->timeout_s, messages);
}

static int judge_end(struct our_control *control, int ret, uint64_t messages)
{
	bool unlimited = is_agent(control) && control->count == OUR_COUNT_UNLIMITED;
	bool unsent = ret == EPIPE && our_client_may_have_left(control);
	int of_device = 0;

	if ((ret == ECONNRESET || unsent) && !our_stop_requested())
		ret = cause_of_flush(control);
	/* On iWARP TCP could not send: the peer, or the way to it, is gone. */
	if (ret == EPIPE)
		ret = our_is_iwarp(control) ? ECONNABORTED : EIO;
	if ((!ret || ret == ECONNRESET || unsent) && our_stop_requested())
		return EINTR;
	if (unlimited && messages && (ret == ECONNRESET || ret == ETIMEDOUT))
		return 0;
	if (ret && ret != EINTR)
		of_device = our_read_async_events(control); /* what it reports about it */
	if (unsent && (ret == ECONNRESET || ret == ECANCELED))
		return report_unsent(ret, messages);
	if (ret == ECANCELED && of_device == EIO) /* reported: the device has failed */
		return EIO;
	report_end(control, ret, messages);
	/* On RoCE each client can make our device flush, by a request that it has no right to. */
	return ret == ECANCELED && is_agent(control) ? ECONNABORTED : ret;
}

int our_judge_end(struct our_control *control, int ret, uint64_t messages)
{
	ret = judge_end(control, ret, messages);
	control->complete = !ret;
	return ret;
}
