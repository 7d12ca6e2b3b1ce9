/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Ways to wait for completions that no stage of the ladder has: see the README.
 */
#ifndef OUR_WAYS_H
#define OUR_WAYS_H

#include "common/waiting.h"

extern const struct our_completion_ops our_polling_yields; /* polling.c */
extern const struct our_completion_ops our_polling_naps;   /* polling.c */
extern const struct our_completion_ops our_blocking_event; /* event.c */

#endif
