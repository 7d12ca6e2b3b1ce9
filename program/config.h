/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The use of the library by the programs of the suite: the ends and limits of waits, and the
 * printing of the library's errors.
 */
#ifndef OUR_CONFIG_H
#define OUR_CONFIG_H

#include "common/our_control.h"
#include "program/options.h"

#define OUR_NO_HARDWARE_ADVICE "Without hardware: lab/run, see lab/README.md"

struct our_stage;

/* The library's configuration, and data to print its errors. Must outlive all connections. */
struct our_program_config {
	struct our_config config;
	const struct our_stage *stage; /* the program's options */
	bool quietly; /* prints nothing if nobody listens, because the client tries again */
};

/*
 * Fills in the configuration for connections of a program that runs `stage`; they wait as `waiting`
 * says. To be called after our_catch_signals.
 */
void our_setup_config(struct our_program_config *config, const struct our_stage *stage,
		      const struct our_waiting *waiting, const struct our_options *options);

/* Returns the struct our_program_config of which `config` is a part. */
static inline struct our_program_config *our_program_config_of(const struct our_config *config)
{
	return config->context;
}

/* Returns the stage that the connection's program runs. */
static inline const struct our_stage *our_stage_of(const struct our_control *control)
{
	return our_program_config_of(control->config)->stage;
}

/*
 * Prints an error of the library on stderr. For config->report, with the program's config as
 * `context`. Any thread.
 */
void our_print_error(void *context, const struct our_error *error);

#endif
