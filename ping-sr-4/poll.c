/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: the one poll(). See channels.h.
 */
#include <errno.h>

#include "common/waiting.h"
#include "ping-sr-4/channels.h"

int our_poll(const struct our_config *config, struct pollfd *fds, nfds_t n, uint64_t until_ns)
{
	struct timespec left;
	nfds_t i;

	if (ppoll(fds, n, our_time_until(until_ns, &left), NULL) >= 0)
		return 0;
	for (i = 0; i < n; i++)
		fds[i].revents = 0;
	return errno == EINTR ? 0 : our_tell_error(config, "ppoll", errno, NULL);
}
