/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The argument of --device, and which device serves an address. See devices.h.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/device/device.h"

/* ---- Words of --device ---- */

/* Reads an address in the form of a RoCE GID: IPv4 is mapped. */
static bool read_address(const char *text, struct in6_addr *address)
{
	char mapped[64];

	if (inet_pton(AF_INET6, text, address) == 1)
		return true;
	snprintf(mapped, sizeof(mapped), "::ffff:%s", text);
	return inet_pton(AF_INET6, mapped, address) == 1;
}

static bool add_gid(struct sim_device *device, const struct sim_gid *gid)
{
	if (device->n_gids == SIM_MOST_GIDS)
		return false;
	device->gids[device->n_gids++] = *gid;
	return true;
}

static bool add_address(struct sim_device *device, const char *text)
{
	if (!strcmp(text, "none")) {
		device->bare = true;
		return true;
	}
	return device->n_addresses < SIM_MOST_ADDRESSES &&
	       read_address(text, &device->addresses[device->n_addresses++]);
}

/* Reads the next port: STATE/MTU or, on InfiniBand, STATE/MTU/LID. */
static bool add_port(struct sim_device *device, const char *text)
{
	static const struct {
		const char *name;
		enum ibv_port_state state;
	} states[] = { { "down", IBV_PORT_DOWN },
		       { "init", IBV_PORT_INIT },
		       { "active", IBV_PORT_ACTIVE } };
	struct sim_port *port = &device->ports[device->n_ports];
	unsigned int mtu, lid = 0, i;
	char state[16];
	int n;

	n = sscanf(text, "%15[a-z]/%u/%u", state, &mtu, &lid);
	if (n < 2 || device->n_ports == SIM_MOST_PORTS || mtu < 256 || mtu > 4096)
		return false;
	for (i = 0; i < 3 && strcmp(states[i].name, state); i++)
		;
	if (i == 3)
		return false;
	device->n_ports++;
	*port = (struct sim_port){ states[i].state, IBV_MTU_256, n == 3, (uint16_t)lid };
	for (; 256u << (port->mtu - IBV_MTU_256) < mtu; port->mtu++)
		;
	return true;
}

/* Reads PORT/INDEX/TYPE/GID, where TYPE is v1, v2 or ib. */
static bool add_listed_gid(struct sim_device *device, const char *text)
{
	struct sim_gid gid = { .type = IBV_GID_TYPE_IB };
	struct in6_addr address;
	char type[4];
	int at = 0;

	if (sscanf(text, "%u/%u/%3[a-z0-9]/%n", &gid.port, &gid.index, type, &at) < 3 || !at ||
	    !read_address(text + at, &address))
		return false;
	if (strcmp(type, "ib"))
		gid.type = strcmp(type, "v1") ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
	memcpy(&gid.gid, &address, sizeof(gid.gid));
	return add_gid(device, &gid);
}

static bool set_name(struct sim_device *device, const char *text)
{
	snprintf(device->name, sizeof(device->name), "%s", text);
	return *text && !strpbrk(text, "/ ");
}

static bool set_host(struct sim_device *device, const char *text)
{
	char more;

	return sscanf(text, "%d%c", &device->host, &more) == 1 && device->host >= 0;
}

static bool read_word(struct sim_device *device, char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return false;
	*value++ = '\0';
	if (!strcmp(word, "name"))
		return set_name(device, value);
	if (!strcmp(word, "address"))
		return add_address(device, value);
	if (!strcmp(word, "host"))
		return set_host(device, value);
	if (!strcmp(word, "port"))
		return add_port(device, value);
	if (!strcmp(word, "gid"))
		return add_listed_gid(device, value);
	return sim_set_trait(&device->traits, word, value);
}

/* ---- Defaults ---- */

/*
 * Sets the GIDs of the lab's device: on RoCE the device's addresses, or the lab's; on soft-iWARP
 * one, made of its link-layer address.
 */
static void add_usual_gids(struct sim_device *device)
{
	static const char *const usual[] = { "::ffff:192.0.2.1", "2001:db8:1::1",
					     "::ffff:127.0.0.1" };
	bool iwarp = device->traits.iwarp;
	struct sim_gid gid = { .port = 1, .type = iwarp ? IBV_GID_TYPE_IB : IBV_GID_TYPE_ROCE_V2 };
	char local[32];
	uint32_t i;

	snprintf(local, sizeof(local), iwarp ? "200:5eff:fe00:%x::" : "fe80::%x",
		 device->number + 1);
	inet_pton(AF_INET6, local, &gid.gid);
	add_gid(device, &gid);
	if (iwarp)
		return;
	for (i = 0; i < device->n_addresses; i++) {
		gid.index = i + 1;
		memcpy(&gid.gid, &device->addresses[i], sizeof(gid.gid));
		add_gid(device, &gid);
	}
	for (i = 0; i < 3 && !device->n_addresses && !device->bare; i++) {
		gid.index = i + 1;
		inet_pton(AF_INET6, usual[i], &gid.gid);
		add_gid(device, &gid);
	}
}

const char *sim_read_device(const char *text, uint32_t number, struct sim_device *device)
{
	static char words[512];
	char *rest, *word, *before, *file;

	*device = (struct sim_device){ .number = number, .host = -1 };
	if (snprintf(words, sizeof(words), "%s", text) >= (int)sizeof(words))
		return text;
	word = strtok_r(words, ",", &rest);
	file = word ? strchr(word, '=') : NULL;
	if (file)
		*file++ = '\0';
	if (!word || !sim_read_kind(word, &device->traits))
		return word ? word : "";
	if (file && !sim_read_answers(file, &device->traits))
		return file;
	snprintf(device->name, sizeof(device->name), "%s%u", device->traits.iwarp ? "siw" : "rxe",
		 number);
	while ((before = strtok_r(NULL, ",", &rest))) {
		if (!read_word(device, before))
			return before;
	}
	if (!device->n_ports)
		device->ports[device->n_ports++] =
			(struct sim_port){ IBV_PORT_ACTIVE, IBV_MTU_1024, false, 0 };
	if (!device->n_gids)
		add_usual_gids(device);
	return NULL;
}

void sim_create_devices(const char *const *texts, uint32_t n)
{
	static const char *const usual[] = { "roce" };
	uint32_t i;

	texts = n ? texts : usual;
	sim_world->devices = sim_alloc(sizeof(*sim_world->devices));
	sim_world->devices->n = n ? n : 1;
	for (i = 0; i < sim_world->devices->n; i++)
		sim_read_device(texts[i], i, &sim_world->devices->all[i]);
}

const struct sim_gid *sim_find_gid(struct sim_host host, uint32_t port, uint32_t index)
{
	const struct sim_device *device = host.device;
	uint32_t i;

	for (i = 0; i < device->n_gids; i++) {
		if (device->gids[i].port == port && sim_index_now(host, &device->gids[i]) == index)
			return &device->gids[i];
	}
	return NULL;
}

uint32_t sim_gid_index(struct sim_host host, uint32_t port, const union ibv_gid *gid)
{
	const struct sim_device *device = host.device;
	uint32_t i;

	for (i = 0; i < device->n_gids; i++) {
		if (device->gids[i].port == port &&
		    !memcmp(&device->gids[i].gid, gid, sizeof(*gid)))
			return sim_index_now(host, &device->gids[i]);
	}
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid) ? 1 : 2;
}

/* ---- Addresses ---- */

union ibv_gid sim_gid_of(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };

	if (address->ss_family == AF_INET6)
		memcpy(&gid, &((const struct sockaddr_in6 *)address)->sin6_addr, sizeof(gid));
	else
		memcpy(&gid.raw[12], &v4->sin_addr, sizeof(v4->sin_addr));
	return gid;
}

static bool serves(const struct sim_device *device, const union ibv_gid *gid)
{
	uint32_t i;

	for (i = 0; i < device->n_addresses; i++) {
		if (!memcmp(&device->addresses[i], gid, sizeof(*gid)))
			return true;
	}
	return !device->n_addresses && !device->bare;
}

bool sim_has_gid(const struct sim_device *device, const union ibv_gid *gid)
{
	uint32_t i;

	for (i = 0; i < device->n_gids; i++) {
		if (!memcmp(&device->gids[i].gid, gid, sizeof(*gid)))
			return true;
	}
	return serves(device, gid);
}

struct sim_device *sim_device_at(const struct sockaddr_storage *address,
				 const struct sim_program *program)
{
	const struct sim_device *device;
	union ibv_gid gid = sim_gid_of(address);
	uint32_t i;

	for (i = 0; i < sim_world->devices->n && !sim_world->devices->removed; i++) {
		device = &sim_world->devices->all[i];
		if ((device->host < 0 || device->host == program->number) && serves(device, &gid))
			return &sim_world->devices->all[i];
	}
	return NULL;
}
