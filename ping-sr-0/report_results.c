/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a connection measured, and between whom: from struct our_control to measure/results.h. What
 * a stage provides: see common/stage.h.
 */
#include "common/device.h"
#include "common/stage.h"
#include "measure/results.h"
#include "program/addresses.h"

static enum our_results_form wanted_form(const struct our_options *options)
{
	if (options->json)
		return OUR_RESULTS_JSON;
	if (options->quiet)
		return OUR_RESULTS_NONE;
	return options->stats ? OUR_RESULTS_STATS : OUR_RESULTS_BLOCK;
}

int our_report_results(const struct our_control *control)
{
	char local[OUR_ADDRESS_TEXT], peer[OUR_ADDRESS_TEXT];
	const struct our_run run = {
		.stage = control->options->program->stage,
		.program = control->options->program->name,
		.role = control->role,
		.device = our_device_name(control),
		.transport = our_transport_name(control),
		.local_address = our_address_text(rdma_get_local_addr(control->cm_id), local),
		.peer_address = our_address_text(rdma_get_peer_addr(control->cm_id), peer),
	};

	return our_show_results(&run, &control->statistics, wanted_form(control->options));
}
