/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The one poll() of a flattened program.
 */
#include <errno.h>

#include "measure/clock.h"
#include "ping-sr-4/channels.h"
#include "program/report.h"

int our_poll(struct pollfd *fds, nfds_t n, uint64_t until_ns)
{
	int ret;

	do
		ret = poll(fds, n, our_ms_until(until_ns));
	while (ret < 0 && errno == EINTR);
	return ret < 0 ? our_report_error("poll", errno, NULL) : 0;
}
