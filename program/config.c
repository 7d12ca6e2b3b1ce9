/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The configuration that a program gives to the library; and the printing of the library's errors,
 * with what our own options can do about them. See config.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/waiting.h"
#include "program/config.h"
#include "program/report.h"
#include "program/stage.h"
#include "program/stop.h"

#define SAME_SIZE "were both sides started with the same -s?"

void our_setup_config(struct our_program_config *config, const struct our_stage *stage,
		      const struct our_waiting *waiting, const struct our_options *options)
{
	*config = (struct our_program_config){
		.stage = stage,
		.config = {
			.waiting = *waiting,
			.report = our_print_error,
			.context = config,
			.stop = our_program_stop(),
			.timeout_s = (unsigned int)options->timeout_s,
			.keepalive_s = (unsigned int)options->keepalive_s,
			.limit_call = our_limit_calls,
		},
	};
}

static const char *name_of(const struct ibv_wc *wc)
{
	if (our_is_recv(wc->wr_id))
		return "receive";
	return wc->wr_id == OUR_WR_ID_KEEPALIVE ? "keepalive" : "send, write or read";
}

/* Returns what our options can do about a failed completion, to be printed after its cause. */
static const char *remedy_of_wc(const struct ibv_wc *wc)
{
	bool keepalive = wc->wr_id == OUR_WR_ID_KEEPALIVE;

	switch (wc->status) {
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR:
		return keepalive ? ", by --keepalive 0" : " (" SAME_SIZE ")";
	case IBV_WC_REM_ACCESS_ERR:
	case IBV_WC_LOC_PROT_ERR:
		return keepalive ? ", by --keepalive 0" : "";
	case IBV_WC_LOC_QP_OP_ERR:
		return our_is_recv(wc->wr_id) ? ": " SAME_SIZE : "";
	case IBV_WC_LOC_LEN_ERR:
		return ": " SAME_SIZE;
	case IBV_WC_RETRY_EXC_ERR:
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return "";
	case IBV_WC_GENERAL_ERR:
		return keepalive ? ", by --keepalive 0" : " and docs/pitfalls.md";
	default:
		return " and docs/pitfalls.md";
	}
}

static void print_wc(const struct our_error *error)
{
	const struct ibv_wc *wc = error->wc;

	our_report_sentence("completion of the %s with wr_id 0x%" PRIx64
			    " on QP 0x%x: %s (status %d, vendor 0x%x): %s%s",
			    name_of(wc), wc->wr_id, wc->qp_num, ibv_wc_status_str(wc->status),
			    wc->status, wc->vendor_err, error->text, remedy_of_wc(wc));
}

/* Returns what our options can do about a failed call, to be printed after its cause. */
static const char *remedy_of(const struct our_error *error)
{
	bool connects = !strcmp(error->call, "rdma_connect");

	if (!*error->text)
		return "";
	if (error->error == EADDRINUSE && !connects)
		return " with -p";
	if (!strcmp(error->call, "ibv_create_srq"))
		return " (--pool)";
	if (error->error == ECONNREFUSED && connects)
		return ", or let the client wait for it with -w";
	if (error->error != EMFILE && (!strcmp(error->call, "rdma_create_id") ||
				       !strcmp(error->call, "rdma_create_event_channel")))
		return " " OUR_NO_HARDWARE_ADVICE;
	return "";
}

static void print_refusal(const struct our_program_config *config, const struct our_error *error)
{
	char reason[128] = "its own messages say why";

	if (config->stage->connect_info)
		config->stage->connect_info->explain(error->event, reason, sizeof(reason));
	our_report_sentence("%s: %s: %s", error->call, error->text, reason);
}

void our_print_error(void *context, const struct our_error *error)
{
	const struct our_program_config *config = context;
	const char *event = error->event_name;

	if ((error->error == ECONNREFUSED || error->error == ENETUNREACH) && config &&
	    config->quietly)
		return;
	if (error->wc) {
		print_wc(error);
	} else if (!error->call) {
		our_report_sentence("%s", error->text);
	} else if (error->error == EACCES && error->event) {
		print_refusal(config, error);
	} else {
		our_report_error(error->call, error->error, "%s%s%s%s%s", error->text,
				 remedy_of(error), event ? " (" : "", event ? event : "",
				 event ? ")" : "");
	}
}
