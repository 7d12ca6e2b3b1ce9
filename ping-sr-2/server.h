/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* ping-sr-2: a listener that gives each client a thread. See struct our_stage. */
#ifndef OUR_THREADED_SERVER_H
#define OUR_THREADED_SERVER_H

#include "common/our_control.h"

int our_threaded_listener(struct our_control *listener); /* server.c */

#endif
