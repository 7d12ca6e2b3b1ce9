/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the part of the independent peer (see peer.c) that has talk-rdma-0's wire (--talk). It says no
 * line: it takes those of the other side.
 *
 * Contract: as messages.c. It tells its count, none, at once.
 */
#include "peer.h"

#define MARK 240
#define SEEN 248

static bool has_count(struct peer *p)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(p->cq, 1, &wc);

	must(n >= 0, "ibv_poll_cq");
	if (n && wc.status != IBV_WC_SUCCESS)
		die_lost(p, (int)wc.status, p->count);
	p->rx_len = n ? wc.byte_len : p->rx_len;
	return n && wc.wr_id >> 32 == KIND_RECV;
}

/* Takes lines until the other side tells how many there were. */
static void listen_to(struct peer *p)
{
	volatile uint8_t *mark = slot(p, OPEN_SLOT) + MARK;
	uint64_t taken = 0;

	while (!has_count(p)) {
		uint64_t number = get_be((const uint8_t *)mark, 4);

		rest(p);
		if (p->left)
			die_lost(p, LOST, taken);
		usleep(PAUSE_US);
		if (number != taken + 1)
			continue;
		maybe_fall_silent(p, taken);
		put64(slot(p, OPEN_SLOT) + SEEN, ++taken);
		if (taken == p->leave_after)
			return;
	}
	check_count(p, taken);
}

void talker(struct peer *p)
{
	if (p->client)
		tell_buffer(p);
	awaited(p, await(p, true, p->client), 0);
	heard_buffer(p);
	if (p->server) {
		tell_buffer(p);
		awaited(p, await(p, false, true), 0);
	}
	if (p->leave_after == NEVER)
		tell_count(p, 0);
	listen_to(p);
}
