/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * main of every server: reads the command line, and runs the stage's server. See program/stage.h.
 */
#include "program/config.h"
#include "program/serve/admission.h"
#include "program/serve/session.h"
#include "program/stage.h"
#include "program/stop.h"

static void count_accepted(struct our_control *agent)
{
	our_note_acceptance(our_session_of(agent)->admission);
}

static size_t give_reason(struct our_control *control, int error, uint8_t *data)
{
	const struct our_connect_info_ops *ops = our_stage_of(control)->connect_info;

	return ops ? ops->refuse(control, error, data) : 0;
}

int main(int argc, char **argv)
{
	struct our_program program = *our_stage.server_program;
	struct our_admission admission;
	struct our_options options;
	struct our_program_config config;
	struct our_control *listener;
	int i, ret;

	program.made_of = &our_stage;
	our_name_program(&program, our_stage.name, "server");
	for (i = 0; i < 2; i++)
		our_add_options(&program, our_stage.server_options[i]);
	for (i = 0; i < 2; i++)
		our_add_options(&program, our_stage.options[i]);
	ret = our_process_options(argc, argv, &program, &options);
	if (ret)
		return our_options_exit_status(ret);
	if (our_stage.connect_info)
		our_stage.connect_info->check_options(&options);
	ret = our_catch_signals();
	if (ret)
		goto out_unprocess_options;
	our_setup_config(&config, &our_stage, &our_stage.waiting, &options);
	ret = our_create_session(&config.config, &options, OUR_LISTENER, &listener);
	if (ret)
		goto out_ignore_signals;
	config.config.established = count_accepted;
	config.config.refuse = give_reason;
	our_open_admission(&admission, &options);
	our_session_of(listener)->admission = &admission;

	ret = our_stage.listener(listener);
	our_destroy_session(listener);
out_ignore_signals:
	our_ignore_signals();
out_unprocess_options:
	our_unprocess_options(&options);
	return our_exit_status(ret);
}
