/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A server's part for the exercise "credits": the third time it returns credits it returns
 * OVERCREDIT (a number in the environment) more than it owes, and says how many it has returned
 * before. Linked with
 * --wrap=our_return_credits and --wrap=our_post_recv_chain.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "blast-sr-2/blast.h"

int __real_our_return_credits(struct our_control *agent, struct our_blast *blast);
int __wrap_our_return_credits(struct our_control *agent, struct our_blast *blast);
int __real_our_post_recv_chain(struct our_control *agent, struct our_blast *blast, uint64_t n);
int __wrap_our_post_recv_chain(struct our_control *agent, struct our_blast *blast, uint64_t n);

static uint64_t lie;

int __wrap_our_return_credits(struct our_control *agent, struct our_blast *blast)
{
	static unsigned int times;
	int ret;

	lie = ++times == 3 ? strtoull(getenv("OVERCREDIT"), NULL, 10) : 0;
	if (lie)
		fprintf(stderr, "overcredit: too many, after %" PRIu64 " credits\n",
			blast->credited);
	blast->credited -= lie;
	ret = __real_our_return_credits(agent, blast);
	lie = 0;
	return ret;
}

/* There must be no more receives than before the lie. */
int __wrap_our_post_recv_chain(struct our_control *agent, struct our_blast *blast, uint64_t n)
{
	return __real_our_post_recv_chain(agent, blast, n - lie);
}
