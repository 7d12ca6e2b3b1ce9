/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: what the one poll() has to know of the completion channels.
 */
#ifndef OUR_COMPLETIONS_H
#define OUR_COMPLETIONS_H

#include <poll.h>

#define OUR_MAX_DEVICES 16 /* more than a machine has that one program listens on */

/*
 * Fills in fds[OUR_MAX_DEVICES], one for each completion channel there is. Returns how many.
 */
nfds_t our_list_comp_channels(struct pollfd *fds);

#endif
