/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connection management layer: a listener and its addresses. See our_control.h.
 */
#include <errno.h>

#include "common/private.h"

/*
 * An IPv6 id keeps to IPv6. Otherwise, on RoCE and InfiniBand only, one that is bound to any
 * address also takes the IPv4 addresses. It is better to need a second id on all devices than on
 * some.
 */
static int keep_to_family(const struct our_control *listener, struct rdma_cm_id *cm_id,
			  const struct sockaddr *address)
{
	int only = 1, ret;

	if (address->sa_family != AF_INET6)
		return 0;
	ret = rdma_set_option(cm_id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only, sizeof(only))
		      ? errno
		      : 0;
	return ret ? our_report_address(listener, "rdma_set_option", ret, address) : 0;
}

static int bind_and_listen(const struct our_control *listener, struct rdma_cm_id *cm_id,
			   struct sockaddr *address, int backlog)
{
	int ret;

	ret = keep_to_family(listener, cm_id, address);
	if (ret)
		return ret;
	ret = rdma_bind_addr(cm_id, address) ? errno : 0;
	/*
	 * Binding to the loopback address works, but there is no device on it: no client could
	 * connect.
	 */
	if (!ret && !cm_id->verbs && !our_is_any_address(address))
		ret = ENODEV;
	if (ret)
		return our_report_address(listener, "rdma_bind_addr", ret, address);

	ret = rdma_listen(cm_id, backlog) ? errno : 0;
	if (ret)
		return our_report_address(listener, "rdma_listen", ret, address);
	return 0;
}

int our_listener_bind(struct our_control *control, struct sockaddr *address, int backlog)
{
	int ret = bind_and_listen(control, control->cm_id, address, backlog);

	if (!ret)
		our_learn_device(control);
	return ret;
}

int our_listener_bind_also(struct our_control *control, struct sockaddr *address, int backlog)
{
	struct rdma_event_channel *channel = control->cm_id->channel;

	if (rdma_create_id(channel, &our_private(control)->second_cm_id, control, RDMA_PS_TCP))
		return our_tell_error(control->config, "rdma_create_id", errno, NULL);
	return bind_and_listen(control, our_private(control)->second_cm_id, address, backlog);
}
