/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * main of every client: reads the command line, and runs the stage's client. See program/stage.h.
 */
#include "program/config.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"
#include "program/stage.h"
#include "program/stop.h"

int main(int argc, char **argv)
{
	const struct our_waiting *waiting = our_stage.client_waiting.completions
						    ? &our_stage.client_waiting
						    : &our_stage.waiting;
	struct our_program program = *our_stage.client_program;
	struct our_options options;
	struct our_program_config config;
	struct our_control *client;
	int ret;

	program.made_of = &our_stage;
	our_name_program(&program, our_stage.name, "client");
	our_add_options(&program, our_stage.options[0]);
	our_add_options(&program, our_stage.options[1]);
	ret = our_process_options(argc, argv, &program, &options);
	if (ret)
		return our_options_exit_status(ret);
	ret = our_catch_signals();
	if (ret)
		goto out_unprocess_options;
	our_setup_config(&config, &our_stage, waiting, &options);
	ret = our_create_session(&config.config, &options, OUR_CLIENT, &client);
	if (ret)
		goto out_ignore_signals;

	ret = our_run_client(client);
	our_destroy_session(client);
out_ignore_signals:
	our_ignore_signals();
out_unprocess_options:
	our_unprocess_options(&options);
	return our_exit_status(ret);
}
