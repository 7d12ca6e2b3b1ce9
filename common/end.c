/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management layer: why a connection has ended. See our_control.h.
 */
#include <errno.h>

#include "common/private.h"

int our_cause_of_flush(struct our_control *control)
{
	int end = our_cm_end(control), ret = 0;

	if (!end) {
		/*
		 * On other transports the cause is the removal of the device, or a thread that has
		 * not reported yet.
		 */
		ret = our_await_disconnect(control,
					   our_flush_may_be_early(control) ? OUR_FLUSH_LIMIT_S : 1);
		end = our_cm_end(control);
	}
	if (ret == EINTR)
		return ret;
	return end ? end : ECANCELED;
}

/*
 * What was reported where it happened, such as a keepalive without an answer, did not come by the
 * CM.
 */
static int report_end(struct our_control *control, int ret)
{
	const struct our_config *config = control->config;

	switch (ret) {
	case ETIMEDOUT:
		if (control->wait_until_ns)
			return our_tell_error(config, NULL, ret,
					      "the peer said nothing until the limit of the wait");
		return our_tell_error(config, NULL, ret, "the peer said nothing for %u s",
				      config->timeout_s);
	case ECANCELED:
		return our_tell_error(config, NULL, ECONNABORTED,
				      "a work request was flushed, although the peer has not "
				      "disconnected: it asked for what it has no right to, or our "
				      "device cannot send: is its link up?");
	case ENODEV:
		if (ret == control->ended)
			our_tell_error(config, NULL, ret, "the RDMA device was removed");
		return ret;
	case EHOSTUNREACH:
		if (ret == control->ended)
			our_tell_error(config, NULL, ret, "the peer cannot be reached any more");
		return ret;
	default:
		return ret;
	}
}

int our_report_end(struct our_control *control, int ret)
{
	bool unsent = ret == EPIPE && our_client_may_have_left(control);

	if (ret != ECONNRESET && !unsent)
		return report_end(control, ret);
	if (our_stop_requested(control->stop))
		return EINTR;
	return report_end(control, our_cause_of_flush(control));
}
