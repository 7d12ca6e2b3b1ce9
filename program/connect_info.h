/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the two sides tell each other when they connect: a table of functions. A connection without one
 * tells nothing.
 */
#ifndef OUR_CONNECT_INFO_OPS_H
#define OUR_CONNECT_INFO_OPS_H

#include "common/our_control.h"

struct our_options;

struct our_connect_info_ops {
	/*
	 * Client: writes the private data for rdma_connect into `data`, of OUR_MOST_TO_CONNECT bytes, and
	 * returns its length. Cannot fail.
	 */
	size_t (*tell)(struct our_control *client, uint8_t *data);

	/*
	 * Agent: takes count, size and number of buffers for `agent` from what the client sent (the
	 * connect request in `request`), and checks them before anything is allocated from them.
	 * Returns 0; EPROTO (invalid) or ERANGE (over a limit), reported.
	 */
	int (*take)(struct our_control *agent, const struct our_cm_event *request);

	/*
	 * Server: writes the reason for a refusal into `data`, for rdma_reject: see config->refuse. This
	 * is the reason that `take` has found, or what `error` means to the client: EUSERS, all clients of
	 * -n have come; EINTR, we were told to stop; EBUSY, too many at a time; EDQUOT, no memory is
	 * left for it; EMFILE, no descriptor; any other: something else ran out. Returns its length in
	 * bytes.
	 */
	size_t (*refuse)(struct our_control *control, int error, uint8_t *data);

	/* Client: writes into text[size] the reason that the server gave with its rejection. */
	void (*explain)(const struct our_cm_event *rejection, char *text, size_t size);

	/* Server: reports, once, which of the given options have no effect. */
	void (*check_options)(const struct our_options *options);
};

extern const struct our_connect_info_ops our_private_data; /* ping-sr-1/connect_info.c */

/*
 * Client: tells the server what the stage has to tell, if anything, and connects. Returns as
 * our_client_connect does.
 */
int our_tell_and_connect(struct our_control *client);

#endif
