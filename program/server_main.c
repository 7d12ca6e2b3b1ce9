/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * main of every server: reads the command line, and runs the stage's server. See common/stage.h.
 */
#include "common/connect_info.h"
#include "common/stage.h"
#include "measure/run.h"
#include "program/admission.h"
#include "program/config.h"
#include "program/stop.h"

int main(int argc, char **argv)
{
	struct our_program program = *our_stage.server_program;
	struct our_admission admission;
	struct our_options options;
	struct our_program_config config;
	struct our_control *listener;
	int i, ret;

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
	our_setup_config(&config, &our_stage.waiting, our_stage.connect_info, &options);
	ret = our_create_run(&config.config, &options, "listener", &listener);
	if (ret)
		goto out_ignore_signals;
	our_open_admission(&admission, &options);
	listener->admission = &admission;
	listener->connect_info = our_stage.connect_info;

	ret = our_stage.listener(listener);
	our_destroy_run(listener);
out_ignore_signals:
	our_ignore_signals();
out_unprocess_options:
	our_unprocess_options(&options);
	return our_exit_status(ret);
}
