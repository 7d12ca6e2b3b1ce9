/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rc-0: from an IP address to a device, its port, and the GID for this address there, which
 * rdma_cm otherwise finds. See bare.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "beyond/ping-rc-0/bare.h"
#include "common/roles.h"
#include "program/config.h"
#include "program/options.h"
#include "program/report.h"

#define MAX_GIDS    1024 /* GIDs of a device */
#define MAX_INDEX   255  /* struct ibv_global_route has eight bits for an index */
#define ANY_GID     UINT64_MAX
#define DEFAULT_MTU IBV_MTU_1024 /* the MTU of ibv_rc_pingpong; the peer's is not known */

static const char *device_wanted;
static uint64_t port_wanted;
static uint64_t gid_wanted = ANY_GID;
static uint64_t mtu_wanted;

const struct our_option our_bare_options[] = {
	{ "device", 0, "NAME", "RDMA device (default: the one with the address)",
	  OUR_OWN_TEXT(device_wanted) },
	{ "device-port", 0, "N",
	  "port of the RDMA device, from 1 (default: the one with the address)",
	  OUR_OWN_NUMBER(port_wanted, 1, 255) },
	{ "gid-index", 0, "N",
	  "place in the port's table of GIDs (default: that of the address, RoCE v2 first)",
	  OUR_OWN_NUMBER(gid_wanted, 0, MAX_INDEX) },
	/* The words are in the order of enum ibv_mtu. */
	{ "mtu", 0, "256|512|1024|2048|4096",
	  "bytes a packet (default 1024, or the port's if that is less)",
	  OUR_OWN_WORD(mtu_wanted) },
	{ 0 },
};

/* Returns an address in the form of a GID: IPv6 as it is, IPv4 mapped into it (::ffff:192.0.2.1). */
static union ibv_gid gid_of(const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)address;
	union ibv_gid gid;

	memset(&gid, 0, sizeof(gid));
	if (address->ss_family == AF_INET6) {
		memcpy(gid.raw, &ipv6->sin6_addr, 16);
	} else {
		gid.raw[10] = gid.raw[11] = 0xff;
		memcpy(gid.raw + 12, &ipv4->sin_addr, 4);
	}
	return gid;
}

/* Returns the GID for our address; of two, that of RoCE v2, which has the larger type. */
static const struct ibv_gid_entry *find_address(const struct our_control *control,
						const struct ibv_gid_entry *entries, ssize_t n)
{
	union ibv_gid wanted = gid_of(&control->local_address);
	const struct ibv_gid_entry *entry, *best = NULL;

	for (entry = entries; entry < entries + n; entry++) {
		if (memcmp(&entry->gid, &wanted, sizeof(wanted)) || entry->gid_index > MAX_INDEX ||
		    (port_wanted && entry->port_num != port_wanted))
			continue;
		if (!best || entry->gid_type > best->gid_type)
			best = entry;
	}
	return best;
}

static const struct ibv_gid_entry *find_index(const struct ibv_gid_entry *entries, ssize_t n,
					      uint64_t port_num)
{
	const struct ibv_gid_entry *entry;

	for (entry = entries; entry < entries + n; entry++) {
		if (entry->gid_index == gid_wanted && entry->port_num == port_num)
			return entry;
	}
	return NULL;
}

/* Chooses a GID of an opened device. *serves: the device has our address, or was named. */
static int choose_gid(struct our_control *control, struct ibv_context *verbs,
		      const struct ibv_gid_entry *entries, ssize_t n, bool *serves)
{
	const struct ibv_gid_entry *chosen = find_address(control, entries, n);
	bool named = device_wanted && gid_wanted != ANY_GID;

	*serves = chosen || named;
	if (!*serves)
		return 0;
	control->port_num = (uint8_t)(chosen ? chosen->port_num : port_wanted ? port_wanted : 1);
	if (gid_wanted != ANY_GID)
		chosen = find_index(entries, n, control->port_num);
	if (!chosen)
		return our_report_error(
			"ibv_query_gid_table", ENOENT,
			"--gid-index: port %d of %s has no GID there: `ibv_devinfo -v` lists those "
			"that it has",
			control->port_num, ibv_get_device_name(verbs->device));
	our_bare_of(control)->gid_index = (uint8_t)chosen->gid_index;
	our_bare_of(control)->local.gid = chosen->gid;
	return 0;
}

/* Sets what depends on the port: the MTU, the link layer and the LID. */
static int setup_port(struct our_control *control, struct ibv_context *verbs)
{
	struct our_bare *bare = our_bare_of(control);
	struct ibv_port_attr port;
	int ret;

	ret = OUR_CALL(ibv_query_port(verbs, control->port_num, &port));
	if (ret)
		return our_report_error("ibv_query_port", ret, "port %d of %s", control->port_num,
					ibv_get_device_name(verbs->device));
	if (port.state != IBV_PORT_ACTIVE)
		return our_report_error("ibv_query_port", ENETDOWN, "port %d of %s is %s",
					control->port_num, ibv_get_device_name(verbs->device),
					ibv_port_state_str(port.state));
	bare->mtu = port.active_mtu < DEFAULT_MTU ? port.active_mtu : DEFAULT_MTU;
	if (mtu_wanted)
		bare->mtu = (enum ibv_mtu)mtu_wanted;
	if (bare->mtu > port.active_mtu) {
		our_report_sentence("--mtu %d is more than port %d of %s takes: at most %d",
				    128 << bare->mtu, control->port_num,
				    ibv_get_device_name(verbs->device), 128 << port.active_mtu);
		return EMSGSIZE;
	}
	bare->is_ethernet = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	bare->local.lid = port.lid;
	return 0;
}

static int choose_port_and_gid(struct our_control *control, struct ibv_context *verbs, bool *serves)
{
	struct ibv_gid_entry *entries = calloc(MAX_GIDS, sizeof(*entries));
	ssize_t n;
	int ret;

	if (!entries)
		return our_report_error("calloc", ENOMEM, NULL);
	errno = 0;
	n = ibv_query_gid_table(verbs, entries, MAX_GIDS, 0);
	ret = n < 0 ? our_report_error("ibv_query_gid_table", our_error_of((int)n), NULL)
		    : choose_gid(control, verbs, entries, n, serves);
	free(entries);
	return ret || !*serves ? ret : setup_port(control, verbs);
}

static bool is_iwarp(const struct ibv_device *device)
{
	return device->transport_type == IBV_TRANSPORT_IWARP;
}

static void close_device(struct ibv_context *verbs)
{
	int ret = OUR_CALL(ibv_close_device(verbs));

	if (ret)
		our_report_error("ibv_close_device", ret, NULL);
}

/* Opens the device. If it is the right one, sets control->verbs, otherwise closes it again. */
static int try_device(struct our_control *control, struct ibv_device *device)
{
	struct ibv_context *verbs;
	bool serves = false;
	int ret;

	ret = OUR_CREATE(verbs, ibv_open_device(device));
	if (ret)
		return our_report_error("ibv_open_device", ret, "%s", ibv_get_device_name(device));
	ret = choose_port_and_gid(control, verbs, &serves);
	if (!ret && serves)
		control->verbs = verbs;
	else
		close_device(verbs);
	return ret;
}

/* Reports why no device is left. An iWARP device among them is the likely reason. */
static int report_no_device(const struct our_control *control, struct ibv_device **devices)
{
	union ibv_gid gid = gid_of(&control->local_address);
	bool ipv4 = control->local_address.ss_family == AF_INET;
	char address[INET6_ADDRSTRLEN] = "?";

	inet_ntop(ipv4 ? AF_INET : AF_INET6, ipv4 ? gid.raw + 12 : gid.raw, address,
		  sizeof(address));
	while (*devices &&
	       (!is_iwarp(*devices) ||
		(device_wanted && strcmp(device_wanted, ibv_get_device_name(*devices)))))
		devices++;
	if (*devices)
		return our_report_error(
			"ibv_get_device_list", ENODEV,
			"%s: no RoCE device serves this address. %s is an iWARP device: its "
			"connections begin as TCP connections, which only rdma_cm can hand over to a QP: "
			"use ping-sr-0",
			address, ibv_get_device_name(*devices));
	if (device_wanted)
		return our_report_error(
			"ibv_get_device_list", ENODEV,
			"%s: no device %s serves this address: see `ibv_devinfo -v`, or choose one of "
			"its GIDs by --gid-index",
			address, device_wanted);
	return our_report_error("ibv_get_device_list", ENODEV,
				"%s: no RDMA device serves this address: `rdma link` lists the "
				"devices, `ip address` the addresses of their netdevs",
				address);
}

int our_choose_device(struct our_control *control)
{
	struct ibv_device **devices, **device;
	int ret = OUR_CREATE(devices, ibv_get_device_list(NULL));

	if (ret)
		return our_report_error("ibv_get_device_list", ret,
					OUR_NO_DEVICE_ADVICE " " OUR_NO_HARDWARE_ADVICE);
	for (device = devices; *device && !control->verbs && !ret; device++) {
		if (!is_iwarp(*device) &&
		    (!device_wanted || !strcmp(device_wanted, ibv_get_device_name(*device))))
			ret = try_device(control, *device);
	}
	if (!ret && !control->verbs)
		ret = report_no_device(control, devices);
	ibv_free_device_list(devices); /* an open device stays open */
	return ret;
}

void our_close_chosen_device(struct our_control *control)
{
	if (control->verbs)
		close_device(control->verbs);
	control->verbs = NULL;
}
