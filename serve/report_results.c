/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a connection measured, and between which addresses: from struct our_control to
 * measure/results.h. What a stage provides: see program/stage.h.
 */
#include "common/private.h"
#include "measure/results.h"
#include "measure/run.h"
#include "program/stage.h"
#include "serve/serve.h"

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

	our_count_waits(run);
	run->statistics.complete = control->complete;
	shown = our_show_results(&measured, &run->statistics, wanted_form(run->options));
	return shown ? shown : ret; /* EINTR is no failure; results that are lost are */
}
