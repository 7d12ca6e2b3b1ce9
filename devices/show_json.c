/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices: the list as one JSON object: devices by name, in these ports by number, in these GIDs by
 * index. See devices.h.
 */
#include <stdio.h>

#include "devices/devices.h"
#include "measure/json.h"

static void show_gid(struct our_json *json, const struct devices_device *device,
		     const struct ibv_gid_entry *gid)
{
	char text[DEVICES_TEXT], netdev[IF_NAMESIZE];
	const char *on = gid->ndev_ifindex ? if_indextoname(gid->ndev_ifindex, netdev) : NULL;

	snprintf(text, sizeof(text), "%u", gid->gid_index);
	our_json_open(json, text);
	our_json_string(json, "type", devices_gid_type(device, gid));
	our_json_string(json, "gid", devices_gid_text(&gid->gid, text));
	devices_gid_address(device, &gid->gid, text);
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

static void show_port(struct our_json *json, const struct devices_device *device,
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
		show_gid(json, device, &port->gids[i]);
	our_json_close(json);
	our_json_close(json);
}

static void show_limits(struct our_json *json, const struct devices_device *device)
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

static void show_device(struct our_json *json, const struct devices_device *device)
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
		show_port(json, device, &device->ports[i]);
	our_json_close(json);
	show_limits(json, device);
	our_json_close(json);
}

void devices_show_json(const struct devices *devices)
{
	struct our_json json = { .file = stdout };
	size_t i;

	our_json_open(&json, NULL);
	for (i = 0; i < devices->n; i++)
		show_device(&json, &devices->all[i]);
	our_json_close(&json);
	putchar('\n');
}
