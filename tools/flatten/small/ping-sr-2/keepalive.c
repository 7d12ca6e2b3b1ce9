/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Asking a silent peer's host, in a flattened program: what it says of that.
 */
#include <errno.h>

#include "ping-sr-2/keepalive.h"
#include "program/report.h"

/* An RDMA WRITE of no byte, or, where nobody acknowledges that, on iWARP, a READ. */
static enum ibv_wr_opcode choose_opcode(struct our_control *control);

/* Looks every few seconds whether the peer has said something, and if not, asks its host. */
int our_keep_alive(struct our_control *control, uint64_t now_ns);

#define LIMIT_S 20 /* for its host to answer; soft-RoCE itself gives up before, and says more */

static int report_unanswered(void)
{
	our_report_sentence("the peer's host has not answered for %d s", LIMIT_S);
	return ECONNABORTED;
}
