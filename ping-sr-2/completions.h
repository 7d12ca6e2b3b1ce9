/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-2: what its way of waiting for completions offers beyond common/stage.h.
 */
#ifndef OUR_COMPLETIONS_AT_HAND_H
#define OUR_COMPLETIONS_AT_HAND_H

#include "common/control.h"

/*
 * How many completions have been taken from the CQ and not been handed out yet: so often
 * our_await_completion will not wait. The connection's own thread.
 */
int our_completions_at_hand(const struct our_control *control);

#endif
