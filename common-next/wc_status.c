/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Completions in error: what they mean, and whose fault they are. See private.h.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>

#include "private.h"

/* The likely cause and the remedy, by status: see ibv_poll_cq(3). */
static const char *advice(const struct ibv_wc *wc)
{
	switch (wc->status) {
	case IBV_WC_LOC_QP_OP_ERR:
		if (!our_is_recv(wc->wr_id))
			return "the device could not send it: is its link down, or the peer gone?";
		/* soft-RoCE reports a receive that is too short like this, too */
		/* fall through */
	case IBV_WC_LOC_LEN_ERR:
		return "most likely the message is longer than the buffer of the receive it met";
	case IBV_WC_REM_INV_REQ_ERR:
		return "the peer refused it: a message longer than its buffer, or an RDMA operation "
		       "that its QP does not allow";
	case IBV_WC_REM_OP_ERR: /* on soft-RoCE for a message that is too long, too */
		return "the peer could not take it: it was just killed, or the message is longer "
		       "than its buffer";
	case IBV_WC_REM_ACCESS_ERR:
		return "the peer's memory may not be accessed so: a wrong rkey, an address outside "
		       "its region, no IBV_ACCESS_REMOTE_WRITE or _READ on the region, or the peer "
		       "was just killed";
	case IBV_WC_LOC_PROT_ERR:
		return "a wrong lkey, a buffer outside its memory region, or no "
		       "IBV_ACCESS_LOCAL_WRITE on one that is to be written to";
	case IBV_WC_RETRY_EXC_ERR:
		return "the peer does not answer: its host, its process or the network is gone";
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return "the peer had no receive posted, again and again";
	default:
		return "see ibv_poll_cq(3)";
	}
}

/* Which side has failed: ECONNABORTED, the peer is gone, or has sent or posted something invalid. */
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
	case IBV_WC_LOC_QP_OP_ERR: /* soft-RoCE: a message that is longer than its receive */
		return our_is_recv(wc->wr_id) ? ECONNABORTED : EIO;
	default:
		return EIO;
	}
}

static int report_wc(struct our_control *control, const struct ibv_wc *wc)
{
	const struct our_config *config = control->config;
	struct our_error error = {
		.call = "ibv_poll_cq",
		.error = failure_of(wc),
		.wc = wc,
		.text = advice(wc),
	};

	our_private(control)->failed = true;
	if (config->report)
		config->report(config->context, &error);
	return error.error;
}

/* On iWARP a send also fails like this if TCP has lost the peer already. */
bool our_is_flushed(const struct our_control *control, const struct ibv_wc *wc)
{
	return wc->status == IBV_WC_WR_FLUSH_ERR ||
	       (wc->status == IBV_WC_LOC_QP_OP_ERR && !our_is_recv(wc->wr_id) &&
		our_is_iwarp(control->verbs));
}

int our_take_wc(struct our_control *control, const struct ibv_wc *wc,
		struct our_completion *completion)
{
	if (our_is_flushed(control, wc))
		return ECONNRESET;
	if (wc->status != IBV_WC_SUCCESS)
		return report_wc(control, wc);
	*completion = (struct our_completion){
		.wr_id = wc->wr_id,
		.byte_len = wc->byte_len,
		.has_immediate = our_is_recv(wc->wr_id) && wc->wc_flags & IBV_WC_WITH_IMM,
	};
	if (completion->has_immediate)
		completion->immediate = be32toh(wc->imm_data);
	/* A message may be earlier than the event that says that the client knows. */
	return our_private(control)->accepted ? our_note_established(control) : 0;
}
