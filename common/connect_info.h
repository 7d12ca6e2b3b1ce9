/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the two sides tell each other when they connect: a table of functions. A connection without one
 * tells nothing.
 */
#ifndef OUR_CONNECT_INFO_OPS_H
#define OUR_CONNECT_INFO_OPS_H

#include "common/control.h"

struct our_connect_info_ops {
	/*
	 * Client: puts the private data for rdma_connect into `param`. It points into memory of
	 * `client` that stays until the connection is made. Cannot fail.
	 */
	void (*tell)(struct our_control *client, struct rdma_conn_param *param);

	/*
	 * Agent: takes count, size and number of buffers for `agent` from what the client sent (the
	 * connect request in `request`), and checks them before anything is allocated from them. Sets
	 * agent->memory to the bytes of memory that they need, as far as the server limits it.
	 *
	 * Returns 0; EPROTO (invalid) or ERANGE (over a limit), reported.
	 */
	int (*take)(struct our_control *agent, const struct our_cm_event *request);

	/*
	 * Server: puts the reason for a refusal into control->private_data, for rdma_reject. This is
	 * the reason that `take` has found, or what `error` means to the client: EUSERS, all clients of
	 * -n have come; EINTR, we were told to stop; EBUSY, too many at a time; EDQUOT, no memory is
	 * left for it; EMFILE, no descriptor; any other: something else ran out. Returns its length in
	 * bytes.
	 */
	uint8_t (*refuse)(struct our_control *control, int error);

	/* Client: writes into text[size] the reason that the server gave with its rejection. */
	void (*explain)(const struct our_cm_event *rejection, char *text, size_t size);

	/* Server: reports, once, which of the given options have no effect. */
	void (*check_options)(const struct our_options *options);
};

extern const struct our_connect_info_ops our_private_data; /* ping-sr-1/connect_info.c */

/* The same for any connection. Without a table nothing is told, taken, or checked. */
void our_setup_connect_info(struct our_control *client, struct rdma_conn_param *param);
int our_take_connect_info(struct our_control *agent, const struct our_cm_event *request);
uint8_t our_setup_refusal(struct our_control *control, int error);

#endif
