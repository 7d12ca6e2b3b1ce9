/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Miscellaneous layer: what goes to stderr when something fails, and the result lines on stdout.
 * See report.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "common/report.h"
#include "common/stop.h"
#include "common/trace.h"
#include "common/transfer_posting.h"

static const char *program_name = "?"; /* written before threads start, then only read */

void our_set_program_name(const char *name)
{
	program_name = name;
}

const char *our_program_name(void)
{
	return program_name;
}

int our_report_error(const char *call, int error, const char *advice, ...)
{
	char text[512] = "";
	va_list arguments;

	our_trace_failed(call, error);
	if (error == EINTR && our_stop_requested())
		return error;
	if (advice) {
		va_start(arguments, advice);
		vsnprintf(text, sizeof(text), advice, arguments);
		va_end(arguments);
	}
	fprintf(stderr, "%s: %s: %s (%d)%s%s\n", program_name, call, strerror(error), error,
		*text ? ": " : "", text);
	return error ? error : EIO;
}

void our_report_sentence(const char *sentence, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, sentence);
	vsnprintf(text, sizeof(text), sentence, arguments);
	va_end(arguments);
	fprintf(stderr, "%s: %s\n", program_name, text);
}

static const char *wc_status_advice(const struct ibv_wc *wc)
{
	switch (wc->status) {
	case IBV_WC_LOC_QP_OP_ERR:
		if (!our_is_recv(wc))
			return "the device could not send it: is its link down, or the peer gone?";
		/* soft-RoCE has this word for a receive that is too short, too */
		/* fall through */
	case IBV_WC_LOC_LEN_ERR:
		return "most likely the message is longer than the buffer of the receive it met: were both sides "
		       "started with the same -s?";
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR: /* soft-RoCE's word for it */
		return "the peer refused the message, most likely as longer than its buffer: were "
		       "both sides started with the same -s?";
	case IBV_WC_LOC_PROT_ERR:
		return "a buffer lies outside its memory region or the region lacks an access right";
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
	our_report_sentence(
		"completion of the %s with wr_id 0x%" PRIx64 " on QP 0x%x: %s (status %d, "
		"vendor 0x%x): %s",
		our_is_recv(wc) ? "receive" : "send", wc->wr_id, wc->qp_num,
		ibv_wc_status_str(wc->status), wc->status, wc->vendor_err, wc_status_advice(wc));
}

void our_report_string(const char *name, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	printf("  %-14s %s\n", name, text);
}
