/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Which device a flattened program takes: the one with the address, and with the GID that stands for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/connection_management.h"
#include "common/device.h"
#include "ping-rc-0/bare.h"
#include "program/addresses.h"
#include "program/report.h"

/* The GID for our address: of two, that of RoCE v2, which is the later type. */
static const struct ibv_gid_entry *find_address(const struct our_control *control,
						const struct ibv_gid_entry *entries, ssize_t n)
{
	union ibv_gid wanted = gid_of(&control->local_address);
	const struct ibv_gid_entry *entry, *best = NULL;

	for (entry = entries; entry < entries + n; entry++) {
		if (!memcmp(&entry->gid, &wanted, sizeof(wanted)) &&
		    entry->gid_index <= MAX_INDEX && (!best || entry->gid_type > best->gid_type))
			best = entry;
	}
	return best;
}

/* What depends on the port. */
static int setup_port(struct our_control *control, struct ibv_context *verbs)
{
	struct our_cm_events *bare = control->cm_events;
	struct ibv_port_attr port;
	int ret;

	ret = ibv_query_port(verbs, control->port_num, &port);
	if (!ret && port.state != IBV_PORT_ACTIVE)
		ret = ENETDOWN;
	if (ret)
		return our_report_error("ibv_query_port", ret, "port %d of %s", control->port_num,
					ibv_get_device_name(verbs->device));
	bare->mtu = port.active_mtu < DEFAULT_MTU ? port.active_mtu : DEFAULT_MTU;
	bare->is_ethernet = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	bare->local.lid = port.lid;
	return 0;
}

/* Whether an opened device has our address: then *serves. */
static int look_at_gids(struct our_control *control, struct ibv_context *verbs, bool *serves)
{
	struct ibv_gid_entry *entries = calloc(MAX_GIDS, sizeof(*entries));
	const struct ibv_gid_entry *chosen;
	ssize_t n;

	if (!entries)
		return our_report_error("calloc", ENOMEM, NULL);
	n = ibv_query_gid_table(verbs, entries, MAX_GIDS, 0);
	chosen = n < 0 ? NULL : find_address(control, entries, n);
	*serves = chosen;
	if (chosen) {
		control->port_num = (uint8_t)chosen->port_num;
		control->cm_events->gid_index = (uint8_t)chosen->gid_index;
		control->cm_events->local.gid = chosen->gid;
	}
	free(entries);
	return n < 0 ? our_report_error("ibv_query_gid_table", (int)-n, NULL) : 0;
}

/* Opens it; if it is the right one, sets control->verbs, otherwise closes it again. */
static int try_device(struct our_control *control, struct ibv_device *device)
{
	struct ibv_context *verbs;
	bool serves;
	int ret;

	errno = 0;
	verbs = ibv_open_device(device);
	if (!verbs)
		return our_report_error("ibv_open_device", errno ? errno : EIO, "%s",
					ibv_get_device_name(device));
	ret = look_at_gids(control, verbs, &serves);
	if (!ret && serves)
		ret = setup_port(control, verbs);
	if (!ret && serves)
		control->verbs = verbs;
	else if (ibv_close_device(verbs))
		our_report_error("ibv_close_device", errno, NULL);
	return ret;
}

int our_choose_device(struct our_control *control)
{
	struct ibv_device **devices, **device;
	char text[OUR_ADDRESS_TEXT];
	int ret = 0;

	errno = 0;
	devices = ibv_get_device_list(NULL);
	if (!devices)
		return our_report_error("ibv_get_device_list", errno ? errno : ENOMEM,
					"is there an RDMA device?");
	for (device = devices; *device && !control->verbs && !ret; device++) {
		if ((*device)->transport_type != IBV_TRANSPORT_IWARP)
			ret = try_device(control, *device);
	}
	if (!ret && !control->verbs)
		ret = our_report_error(
			"ibv_get_device_list", ENODEV,
			"%s: no RoCE device serves it, and on iWARP only rdma_cm "
			"makes connections",
			our_address_text((const struct sockaddr *)&control->local_address, text));
	ibv_free_device_list(devices); /* an open device stays open */
	return ret;
}
