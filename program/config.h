/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How the programs of the suite use the library: what ends a wait, and after what time.
 */
#ifndef OUR_CONFIG_H
#define OUR_CONFIG_H

#include "common/our_control.h"
#include "program/options.h"

/*
 * Fills in what connections that wait as `waiting` says are made with. To be called after
 * our_catch_signals.
 */
void our_setup_config(struct our_config *config, const struct our_waiting *waiting,
		      const struct our_options *options);

#endif
