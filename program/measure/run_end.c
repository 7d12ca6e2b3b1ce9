/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The end of a run: its cause, the report to the user, and the results. See run.h. */
#include <errno.h>
#include <inttypes.h>

#include "common/clock.h"
#include "common/roles.h"
#include "program/measure/results.h"
#include "program/measure/run.h"
#include "program/options.h"
#include "program/report.h"

/* Reports a failed send to the client. `ret`: ECONNRESET if the CM has said why, else ECANCELED. */
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
	return control->role == OUR_AGENT;
}

static void report_end(struct our_run *run, int ret, uint64_t messages)
{
	struct our_control *control = run->control;
	const char *peer = is_agent(control) ? "client" : "server";
	uint64_t timeout_s = run->options->timeout_s;

	if (!timeout_s) /* then only a client's first word has a limit */
		timeout_s = OUR_SERVER_TIMEOUT;
	if (ret == ECONNRESET)
		our_report_sentence("the %s left after %" PRIu64 " messages", peer, messages);
	if (ret == ENODEV && ret == our_how_ended(control))
		our_report_sentence("the RDMA device was removed after %" PRIu64
				    " messages (RDMA_CM_EVENT_DEVICE_REMOVAL)",
				    messages);
	if (ret == EHOSTUNREACH && ret == our_how_ended(control))
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
	if (ret == ETIMEDOUT && our_now_ns() >= run->give_up_ns)
		our_report_sentence("waited in vain for the %s's answer to message %" PRIu64
				    ", until %u s after the end of -D %" PRIu64
				    ": is the link up, and the %s still there?",
				    peer, messages, OUR_GRACE_S, run->options->duration_s, peer);
	else if (ret == ETIMEDOUT)
		our_report_sentence("the %s said nothing for %" PRIu64 " s, after %" PRIu64
				    " messages",
				    peer, timeout_s, messages);
}

static int judge_end(struct our_run *run, int ret, uint64_t messages)
{
	struct our_control *control = run->control;
	bool unlimited = is_agent(control) && run->count == OUR_COUNT_UNLIMITED;
	bool unsent = ret == EPIPE && our_client_may_have_left(control);
	int of_device = 0;

	if ((ret == ECONNRESET || unsent) && !our_stop_requested(control->stop))
		ret = our_cause_of_flush(control);
	/* On iWARP TCP could not send: the peer, or the way to it, is gone. */
	if (ret == EPIPE)
		ret = our_is_iwarp(control) ? ECONNABORTED : EIO;
	if ((!ret || ret == ECONNRESET || unsent) && our_stop_requested(control->stop))
		return EINTR;
	if (unlimited && messages && (ret == ECONNRESET || ret == ETIMEDOUT))
		return 0;
	if (ret && ret != EINTR)
		of_device = our_take_async_events(control); /* the device may report the cause */
	if (unsent && (ret == ECONNRESET || ret == ECANCELED))
		return report_unsent(ret, messages);
	if (ret == ECANCELED && of_device == EIO) /* reported: the device has failed */
		return EIO;
	report_end(run, ret, messages);
	/* On RoCE each client can make our device flush, by a request that it has no right to. */
	return ret == ECANCELED && is_agent(control) ? ECONNABORTED : ret;
}

int our_judge_end(struct our_run *run, int ret, uint64_t messages)
{
	ret = judge_end(run, ret, messages);
	run->control->complete = !ret;
	return ret;
}

int our_end_run(struct our_run *run, int ret)
{
	our_statistics_end(&run->statistics);
	ret = our_judge_end(run, ret, run->message);
	run->statistics.verified = !ret && run->options->verify;
	return ret;
}

/* ---- Its results ---- */

static enum our_results_form wanted_form(const struct our_options *options)
{
	if (options->json)
		return OUR_RESULTS_JSON;
	if (options->quiet)
		return OUR_RESULTS_NONE;
	if (options->stats)
		return OUR_RESULTS_STATS;
	return options->program->results_on_request ? OUR_RESULTS_NONE : OUR_RESULTS_BLOCK;
}

static const char *address_text(const struct sockaddr_storage *address, char *text)
{
	return our_address_text((const struct sockaddr *)address, text);
}

/* Puts the cost of waiting since the warm-up into the statistics. */
static void count_waits(struct our_run *run)
{
	const struct our_counters *now = &run->control->counters, *before = &run->before;
	struct our_statistics *statistics = &run->statistics;

	if (!statistics->started_ns)
		return;
	statistics->cq_polls = now->polls - before->polls;
	statistics->cq_empty_polls = now->empty_polls - before->empty_polls;
	statistics->completions = now->completions - before->completions;
	statistics->sleeps = now->sleeps - before->sleeps;
	statistics->empty_wake_ups = now->empty_wake_ups - before->empty_wake_ups;
}

int our_report_results(const struct our_control *control, int ret)
{
	char local[OUR_ADDRESS_TEXT], peer[OUR_ADDRESS_TEXT];
	struct our_run *run = our_run_of(control);
	const struct our_measured measured = {
		.stage = run->options->program->stage,
		.program = run->options->program->name,
		.role = control->role == OUR_AGENT ? "agent" : "client",
		.device = our_device_name(control),
		.transport = our_transport_name(control),
		.local_address = address_text(&control->local_address, local),
		.peer_address = address_text(&control->peer_address, peer),
	};
	int shown;

	count_waits(run);
	run->statistics.complete = control->complete;
	shown = our_show_results(&measured, &run->statistics, wanted_form(run->options));
	return shown ? shown : ret; /* EINTR is no failure; results that are lost are */
}
