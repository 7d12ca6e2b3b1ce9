/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the RNR timer (receiver not ready) of a QP: the time that a sender on
 * InfiniBand or RoCE waits if its message found no receive. Contract: reports a QP for which this
 * time is long.
 */
#include "tests/fake/limits.h"

#define LONG_US 10000 /* longer: one late receive costs a hundred round trips */

/*
 * The microseconds of each code, from the InfiniBand specification ("Encoding for RNR NAK Timer").
 */
static const uint32_t us_of[] = {
	655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,    320,
	480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240,  15360,
	20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

void fake_note_rnr_timer(struct fake_qp *qp, unsigned int code)
{
	if (fake_config->iwarp)
		fake_complain("ibv_modify_qp: iWARP has no RNR timer");
	if (code >= sizeof(us_of) / sizeof(us_of[0]))
		fake_complain("ibv_modify_qp: there is no RNR timer %u", code);
	else
		qp->rnr_timer = code;
}

/*
 * In a run without failures the program must have set it: 0, the value that rdma_cm leaves, is the
 * longest time.
 */
void fake_check_rnr_timer(const struct fake_qp *qp)
{
	const struct fake_peer *peer = qp->id->peer;
	uint32_t us = us_of[qp->rnr_timer];

	if (fake_config->iwarp || fake_report->hit || fake_config->one_more ||
	    fake_report->one_file)
		return;
	if (peer && peer->done && us > LONG_US)
		fake_complain("QP %u has worked with an RNR timer of %u us", qp->object.number, us);
}
