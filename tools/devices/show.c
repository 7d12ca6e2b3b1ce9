/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices: the list for people; and as one JSON object: devices by name, in these ports by number,
 * in these GIDs by index. See devices.h.
 */
#include <inttypes.h>
#include <stdio.h>

#include "devices/devices.h"
#include "program/measure/json.h"

/* ---- For people ---- */

#define ROW "    %-20s %12s  %s\n"

static void show_gid(const struct devices_device *device, const struct devices_port *port,
		     const struct ibv_gid_entry *gid)
{
	char text[DEVICES_TEXT], address[DEVICES_TEXT], netdev[IF_NAMESIZE];
	const char *on = gid->ndev_ifindex ? if_indextoname(gid->ndev_ifindex, netdev) : NULL;

	devices_gid_address(device, port, &gid->gid, address);
	printf("    GID %-3u %-11s %s%s%s%s%s\n", gid->gid_index, devices_gid_type(device, gid),
	       devices_gid_text(&gid->gid, text), *address ? "  serves " : "", address,
	       on ? " on " : "", on ? on : "");
}

static void show_port(const struct devices_device *device, const struct devices_port *port)
{
	const struct ibv_port_attr *attr = &port->attr;
	size_t i;

	printf("  port %u: %s, %s, link layer %s, MTU %u of %u, %g Gbit/s, %s%s\n", port->number,
	       ibv_port_state_str(attr->state), devices_transport(device, port),
	       devices_link_layer(attr), devices_mtu(attr->active_mtu), devices_mtu(attr->max_mtu),
	       devices_rate_gbps(attr), *port->netdev ? "netdev " : "no netdev here", port->netdev);
	for (i = 0; i < port->n_gids; i++)
		show_gid(device, port, &port->gids[i]);
	if (!port->n_gids)
		printf("    no GID in use\n");
}

static void show_row(const char *name, uint64_t value, const char *limits)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	printf(ROW, name, text, limits);
}

static void show_limits(const struct devices_device *device)
{
	const struct ibv_device_attr_ex *attr = &device->attr;
	bool odp = attr->odp_caps.general_caps & IBV_ODP_SUPPORT;
	const struct devices_limit *limit;

	printf("  limits\n");
	for (limit = devices_limits; limit->name; limit++)
		show_row(limit->name, devices_limit(device, limit), limit->limits);
	if (device->n_ports)
		show_row("max_msg_sz", device->ports[0].attr.max_msg_sz, "bytes of one message");
	show_row("max_inline", device->max_inline,
		 "bytes of a message that may be copied into its work request");
	show_row("comp_vectors", (uint64_t)device->verbs->num_comp_vectors,
		 "interrupts that completion channels can be spread over");
	printf(ROW, "atomics", devices_atomics(attr),
	       "FETCH_AND_ADD and COMPARE_AND_SWAP: atomic among whom");
	printf(ROW, "ODP", odp ? "yes" : "no", "memory that is registered and need not be locked");
}

static void show_device(const struct devices_device *device)
{
	const struct ibv_device_attr *attr = &device->attr.orig_attr;
	char node[DEVICES_TEXT], system[DEVICES_TEXT];
	size_t i;

	printf("%s: %s, firmware %s, node GUID %s, system image GUID %s\n", device->name,
	       devices_transport(device, device->ports), attr->fw_ver,
	       devices_guid_text(attr->node_guid, node),
	       devices_guid_text(attr->sys_image_guid, system));
	for (i = 0; i < device->n_ports; i++)
		show_port(device, &device->ports[i]);
	show_limits(device);
}

void devices_show(const struct devices *devices)
{
	size_t i;

	for (i = 0; i < devices->n; i++)
		show_device(&devices->all[i]);
}

/* ---- JSON ---- */

static void json_gid(struct our_json *json, const struct devices_device *device,
		     const struct devices_port *port, const struct ibv_gid_entry *gid)
{
	char text[DEVICES_TEXT], netdev[IF_NAMESIZE];
	const char *on = gid->ndev_ifindex ? if_indextoname(gid->ndev_ifindex, netdev) : NULL;

	snprintf(text, sizeof(text), "%u", gid->gid_index);
	our_json_open(json, text);
	our_json_string(json, "type", devices_gid_type(device, gid));
	our_json_string(json, "gid", devices_gid_text(&gid->gid, text));
	devices_gid_address(device, port, &gid->gid, text);
	if (*text)
		our_json_string(json, "address", text);
	else
		our_json_null(json, "address");
	if (on)
		our_json_string(json, "netdev", on);
	else
		our_json_null(json, "netdev");
	our_json_close(json);
}

static void json_port(struct our_json *json, const struct devices_device *device,
		      const struct devices_port *port)
{
	const struct ibv_port_attr *attr = &port->attr;
	char text[DEVICES_TEXT];
	size_t i;

	snprintf(text, sizeof(text), "%u", port->number);
	our_json_open(json, text);
	our_json_string(json, "transport", devices_transport(device, port));
	our_json_string(json, "state", ibv_port_state_str(attr->state));
	our_json_string(json, "link_layer", devices_link_layer(attr));
	our_json_integer(json, "active_mtu", devices_mtu(attr->active_mtu));
	our_json_integer(json, "max_mtu", devices_mtu(attr->max_mtu));
	our_json_number(json, "rate_gbps", devices_rate_gbps(attr), 1);
	our_json_integer(json, "max_msg_sz", attr->max_msg_sz);
	if (*port->netdev)
		our_json_string(json, "netdev", port->netdev);
	else
		our_json_null(json, "netdev");
	our_json_open(json, "gids");
	for (i = 0; i < port->n_gids; i++)
		json_gid(json, device, port, &port->gids[i]);
	our_json_close(json);
	our_json_close(json);
}

static void json_limits(struct our_json *json, const struct devices_device *device)
{
	const struct devices_limit *limit;

	our_json_open(json, "limits");
	for (limit = devices_limits; limit->name; limit++)
		our_json_integer(json, limit->name, devices_limit(device, limit));
	our_json_integer(json, "max_inline", device->max_inline);
	our_json_integer(json, "comp_vectors", (uint64_t)device->verbs->num_comp_vectors);
	our_json_string(json, "atomics", devices_atomics(&device->attr));
	our_json_bool(json, "odp", device->attr.odp_caps.general_caps & IBV_ODP_SUPPORT);
	our_json_close(json);
}

static void json_device(struct our_json *json, const struct devices_device *device)
{
	const struct ibv_device_attr *attr = &device->attr.orig_attr;
	char text[DEVICES_TEXT];
	size_t i;

	our_json_open(json, device->name);
	our_json_string(json, "transport", devices_transport(device, device->ports));
	our_json_string(json, "firmware", attr->fw_ver);
	our_json_string(json, "node_guid", devices_guid_text(attr->node_guid, text));
	our_json_string(json, "system_image_guid", devices_guid_text(attr->sys_image_guid, text));
	our_json_open(json, "ports");
	for (i = 0; i < device->n_ports; i++)
		json_port(json, device, &device->ports[i]);
	our_json_close(json);
	json_limits(json, device);
	our_json_close(json);
}

void devices_show_json(const struct devices *devices)
{
	struct our_json json = { .file = stdout };
	size_t i;

	our_json_open(&json, NULL);
	for (i = 0; i < devices->n; i++)
		json_device(&json, &devices->all[i]);
	our_json_close(&json);
	putchar('\n');
}
