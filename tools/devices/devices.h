/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices: RDMA devices, their ports and their GIDs, and functions to show them. Everything here is
 * read from the kernel when devices_open is called, and does not change afterwards.
 */
#ifndef DEVICES_H
#define DEVICES_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct devices_port {
	uint8_t number; /* counted from 1 */
	struct ibv_port_attr attr;
	char netdev[IF_NAMESIZE];   /* "": none, or none in this network namespace */
	struct ibv_gid_entry *gids; /* the GIDs in use */
	size_t n_gids;
};

struct devices_device {
	struct ibv_context *verbs;
	const char *name;
	struct ibv_device_attr_ex attr;
	uint32_t max_inline; /* bytes that a QP with one SGE may send inline, as tried */
	struct devices_port *ports;
	size_t n_ports;
};

struct devices {
	struct devices_device *all;
	size_t n;
	struct ibv_device **list; /* libibverbs' list */
	int n_unopened;           /* devices that could not be opened; each has been reported */
};

/* ---- inventory.c ---- */

/*
 * Opens the device called `only`, or all of them if it is NULL, and reads what each is. Returns 0,
 * ENODEV if there is none (not reported), or another errno value, reported. devices_close undoes
 * it, also after a failure.
 */
int devices_open(struct devices *devices, const char *only);
void devices_close(struct devices *devices);

/* ---- words.c ---- */

#define DEVICES_TEXT 64

const char *devices_transport(const struct devices_device *device, const struct devices_port *port);
const char *devices_link_layer(const struct ibv_port_attr *attr);
const char *devices_gid_type(const struct devices_device *device, const struct ibv_gid_entry *gid);
const char *devices_atomics(const struct ibv_device_attr_ex *attr);
double devices_rate_gbps(const struct ibv_port_attr *attr);
unsigned int devices_mtu(enum ibv_mtu code);
/* These write into text[DEVICES_TEXT] and return it. */
const char *devices_guid_text(__be64 guid, char *text);
const char *devices_gid_text(const union ibv_gid *gid, char *text);
/* Writes the IP address that a GID of this port stands for; "": none. */
const char *devices_gid_address(const struct devices_device *device,
				const struct devices_port *port, const union ibv_gid *gid,
				char *text);

struct devices_limit {
	const char *name;
	size_t offset;      /* offset of an int in struct ibv_device_attr */
	const char *limits; /* the limited thing */
};
extern const struct devices_limit devices_limits[]; /* the last has no name */
uint64_t devices_limit(const struct devices_device *device, const struct devices_limit *limit);

/* ---- show.c, check.c ---- */

void devices_show(const struct devices *devices);
void devices_show_json(const struct devices *devices);
/*
 * Reports the reasons why RDMA with an address does not work; "": with an address of this machine,
 * if it has one. Returns 0, or an errno value if there are any.
 */
int devices_check(const char *address, const char *port);

#endif
