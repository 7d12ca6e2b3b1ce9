/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices: codes, addresses, limits and the answers of --check, as words. See devices.h and check.h.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "devices/check.h"

const char *devices_link_layer(const struct ibv_port_attr *attr)
{
	switch (attr->link_layer) {
	case IBV_LINK_LAYER_ETHERNET:
		return "Ethernet";
	case IBV_LINK_LAYER_INFINIBAND:
		return "InfiniBand";
	default:
		return "unspecified";
	}
}

const char *devices_transport(const struct devices_device *device, const struct devices_port *port)
{
	switch (device->verbs->device->transport_type) {
	case IBV_TRANSPORT_IWARP:
		return "iWARP";
	case IBV_TRANSPORT_IB:
		return port && port->attr.link_layer == IBV_LINK_LAYER_ETHERNET ? "RoCE"
										: "InfiniBand";
	case IBV_TRANSPORT_USNIC:
	case IBV_TRANSPORT_USNIC_UDP:
		return "usNIC";
	default:
		return "unspecified";
	}
}

/* The GID of an iWARP device is its MAC address, which no program needs: TCP has IP addresses. */
const char *devices_gid_type(const struct devices_device *device, const struct ibv_gid_entry *gid)
{
	if (device->verbs->device->transport_type == IBV_TRANSPORT_IWARP)
		return "MAC address";
	switch (gid->gid_type) {
	case IBV_GID_TYPE_ROCE_V1:
		return "RoCE v1";
	case IBV_GID_TYPE_ROCE_V2:
		return "RoCE v2";
	default:
		return "IB";
	}
}

const char *devices_atomics(const struct ibv_device_attr_ex *attr)
{
	switch (attr->orig_attr.atomic_cap) {
	case IBV_ATOMIC_NONE:
		return "none";
	case IBV_ATOMIC_HCA:
		return "device";
	default:
		return "global";
	}
}

static double lane_gbps(uint8_t speed)
{
	switch (speed) {
	case 1:
		return 2.5;
	case 2:
		return 5;
	case 4:
	case 8:
		return 10;
	case 16:
		return 14;
	case 32:
		return 25;
	case 64:
		return 50;
	case 128:
		return 100;
	default:
		return 0;
	}
}

double devices_rate_gbps(const struct ibv_port_attr *attr)
{
	static const unsigned int lanes[] = { [1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2 };

	if (attr->active_width >= sizeof(lanes) / sizeof(lanes[0]))
		return 0;
	return lanes[attr->active_width] * lane_gbps(attr->active_speed);
}

unsigned int devices_mtu(enum ibv_mtu code)
{
	return code < IBV_MTU_256 || code > IBV_MTU_4096 ? 0 : 128u << code;
}

const char *devices_guid_text(__be64 guid, char *text)
{
	uint64_t value = be64toh(guid);

	snprintf(text, DEVICES_TEXT, "%04x:%04x:%04x:%04x", (unsigned int)(value >> 48) & 0xffff,
		 (unsigned int)(value >> 32) & 0xffff, (unsigned int)(value >> 16) & 0xffff,
		 (unsigned int)value & 0xffff);
	return text;
}

const char *devices_gid_text(const union ibv_gid *gid, char *text)
{
	int i;

	for (i = 0; i < 8; i++)
		sprintf(text + 5 * i, "%02x%02x%s", gid->raw[2 * i], gid->raw[2 * i + 1],
			i < 7 ? ":" : "");
	return text;
}

/* On RoCE a GID is an IPv6 address, or an IPv4 address in one; on InfiniBand it is neither. */
const char *devices_gid_address(const struct devices_device *device,
				const struct devices_port *port, const union ibv_gid *gid,
				char *text)
{
	const struct in6_addr *address = (const struct in6_addr *)(const void *)gid->raw;

	text[0] = '\0';
	if (strcmp(devices_transport(device, port), "RoCE"))
		return text;
	if (IN6_IS_ADDR_V4MAPPED(address))
		inet_ntop(AF_INET, gid->raw + 12, text, DEVICES_TEXT);
	else
		inet_ntop(AF_INET6, address, text, DEVICES_TEXT);
	return text;
}

/* ---- Limits ---- */

#define ATTR(name) #name, offsetof(struct ibv_device_attr, name)

const struct devices_limit devices_limits[] = {
	{ ATTR(max_qp), "queue pairs, one for each end of a connection, of all programs together" },
	{ ATTR(max_qp_wr), "work requests that may be posted to one queue and not completed yet" },
	{ ATTR(max_sge), "pieces of memory that one send or receive is gathered from" },
	{ ATTR(max_sge_rd), "... and that one RDMA READ is scattered to" },
	{ ATTR(max_cq), "completion queues, of all programs together" },
	{ ATTR(max_cqe), "entries of a completion queue: one for each work request outstanding" },
	{ ATTR(max_pd), "protection domains" },
	{ ATTR(max_mr), "memory regions, of all programs together" },
	{ ATTR(max_mw), "memory windows; 0: there are none" },
	{ ATTR(max_srq), "shared receive queues; 0: there are none" },
	{ ATTR(max_srq_wr), "receives that may be posted to one of them" },
	{ ATTR(max_srq_sge), "pieces of memory of each" },
	{ ATTR(max_qp_rd_atom), "RDMA READs and atomics that a QP answers at a time "
				"(responder_resources)" },
	{ ATTR(max_qp_init_rd_atom), "RDMA READs and atomics that a QP has under way at a time "
				     "(initiator_depth)" },
	{ ATTR(max_ah), "address handles: peers of an unreliable datagram QP" },
	{ ATTR(max_mcast_grp), "multicast groups; 0: there is no multicast" },
	{ 0 },
};

uint64_t devices_limit(const struct devices_device *device, const struct devices_limit *limit)
{
	int value;

	memcpy(&value, (const char *)&device->attr.orig_attr + limit->offset, sizeof(value));
	return value < 0 ? 0 : (uint64_t)value;
}

/* ---- The answer of a step ---- */

enum check_verdict check_say(struct check *check, enum check_verdict verdict, const char *format,
			     ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(check->text, sizeof(check->text), format, arguments);
	va_end(arguments);
	return verdict;
}

enum check_verdict check_fail(struct check *check, const char *remedy, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(check->text, sizeof(check->text), format, arguments);
	va_end(arguments);
	if (!*check->remedy)
		snprintf(check->remedy, sizeof(check->remedy), "%s", remedy);
	return CHECK_FAILS;
}
