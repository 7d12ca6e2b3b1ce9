/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: the one poll(). See channels.h.
 */
#include <errno.h>
#include <time.h>

#include "measure/clock.h"
#include "ping-sr-4/channels.h"
#include "program/report.h"

/* How long ppoll(2) may sleep; NULL: for ever. */
static const struct timespec *time_left(uint64_t until_ns, struct timespec *left)
{
	uint64_t now_ns, left_ns;

	if (until_ns == UINT64_MAX)
		return NULL;
	now_ns = our_now_ns();
	left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	left->tv_sec = (time_t)(left_ns / OUR_NS_PER_S);
	left->tv_nsec = (long)(left_ns % OUR_NS_PER_S);
	return left;
}

int our_poll(struct pollfd *fds, nfds_t n, uint64_t until_ns)
{
	struct timespec left;
	nfds_t i;

	if (ppoll(fds, n, time_left(until_ns, &left), NULL) >= 0)
		return 0;
	for (i = 0; i < n; i++)
		fds[i].revents = 0;
	return errno == EINTR ? 0 : our_report_error("ppoll", errno, NULL);
}
