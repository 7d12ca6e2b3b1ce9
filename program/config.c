/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the library is told by a program. See config.h.
 */
#include "program/config.h"
#include "program/stop.h"

void our_setup_config(struct our_config *config, const struct our_waiting *waiting,
		      const struct our_options *options)
{
	*config = (struct our_config){
		.waiting = *waiting,
		.stop = our_program_stop(),
		.timeout_s = (unsigned int)options->timeout_s,
		.limit_call = our_limit_calls,
	};
}
