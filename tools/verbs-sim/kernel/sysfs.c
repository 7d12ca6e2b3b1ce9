/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The files of the kernel, as a table of paths: each row is a file, with the function that writes its
 * text. The words before the last name the folders. See sysfs.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/kernel/sysfs.h"

/* The device, port and index that a path has for the words of a row. */
struct place {
	struct sim_device *device;
	uint32_t port, index;
};

static const struct sim_program *who_asks(void)
{
	const struct sim_thread *thread = sim_me ? sim_me : sim_left;

	return thread ? thread->program : NULL;
}

bool sysfs_sees(const struct sim_device *device)
{
	const struct sim_program *program = who_asks();

	return device->host < 0 || (program && device->host == program->number);
}

dev_t sysfs_number_of(const struct sim_device *device)
{
	return device ? makedev(231, 192 + device->number) : makedev(10, 58);
}

/* ---- Texts: each returns its length, as snprintf does ---- */

#define WRITE(...) snprintf(text, SYSFS_MOST_TEXT, __VA_ARGS__)
#define TEXT(name, ...)                                        \
	static int name(const struct place *place, char *text) \
	{                                                      \
		(void)place;                                   \
		return WRITE(__VA_ARGS__);                     \
	}
TEXT(abi_of_uverbs, "6\n")
TEXT(abi_of_driver, "%u\n", place->device->traits.abi)
TEXT(abi_of_cm, "4\n")
TEXT(name_of_device, "%s\n", place->device->name)
TEXT(number_of_device, "%u:%u\n", major(sysfs_number_of(place->device)),
     minor(sysfs_number_of(place->device)))
TEXT(number_of_cm, "%u:%u\n", major(sysfs_number_of(NULL)), minor(sysfs_number_of(NULL)))
TEXT(node_type, "%s\n", place->device->traits.iwarp ? "4: RNIC" : "1: CA")
TEXT(firmware, "%s\n", place->device->traits.attr.fw_ver)
TEXT(lid, "0x%x\n", place->device->ports[place->port - 1].lid)
TEXT(pkey, "0xffff\n")

static const char *link_of(const struct place *place)
{
	return place->device->ports[place->port - 1].infiniband ? "InfiniBand" : "Ethernet";
}
TEXT(link_layer, "%s\n", link_of(place))

static int state(const struct place *place, char *text)
{
	const struct sim_host host = { who_asks(), place->device };
	enum ibv_port_state now = sim_port_state(host, place->port);

	return WRITE("%d: %s\n", now,
		     now == IBV_PORT_ACTIVE ? "ACTIVE"
		     : now == IBV_PORT_INIT ? "INIT"
					    : "DOWN");
}

/* Writes bytes as an IPv6 address has them, in full: four or eight groups. */
static int write_groups(const void *from, size_t groups, char *text)
{
	const uint8_t *byte = from;
	size_t i;

	for (i = 0; i < groups; i++)
		snprintf(text + 5 * i, 6, "%02x%02x%c", byte[2 * i], byte[2 * i + 1],
			 i + 1 < groups ? ':' : '\n');
	return (int)(5 * groups);
}

static int node_guid(const struct place *place, char *text)
{
	__be64 guid = sim_guid_of(place->device);

	return write_groups(&guid, sizeof(guid) / 2, text);
}

static const struct sim_gid *find_gid(const struct place *place)
{
	const struct sim_host host = { who_asks(), place->device };

	return sim_find_gid(host, place->port, place->index);
}

static int gid(const struct place *place, char *text)
{
	static const union ibv_gid none;
	const struct sim_gid *found = find_gid(place);

	return write_groups(found ? &found->gid : &none, sizeof(none) / 2, text);
}

/* The kernel refuses to read the attributes of an empty place. */
static int gid_type(const struct place *place, char *text)
{
	const struct sim_gid *found = find_gid(place);

	if (!found)
		return -1;
	return WRITE("%s\n", found->type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2" : "IB/RoCE v1");
}

static int gid_interface(const struct place *place, char *text)
{
	return find_gid(place) ? WRITE("lo\n") : -1;
}

/* ---- The table: a word in capitals stands for any name of its kind ---- */

#define DEVICE "/sys/class/infiniband/DEVICE"
#define UVERBS "/sys/class/infiniband_verbs/UVERBS"
static const struct {
	const char *path;
	int (*write)(const struct place *place, char *text);
	enum sysfs_kind kind;
} rows[] = {
	{ "/sys/class/infiniband_verbs/abi_version", abi_of_uverbs, SYSFS_FILE },
	{ UVERBS "/abi_version", abi_of_driver, SYSFS_FILE },
	{ UVERBS "/dev", number_of_device, SYSFS_FILE },
	{ UVERBS "/ibdev", name_of_device, SYSFS_FILE },
	{ DEVICE "/node_type", node_type, SYSFS_FILE },
	{ DEVICE "/node_guid", node_guid, SYSFS_FILE },
	{ DEVICE "/sys_image_guid", node_guid, SYSFS_FILE },
	{ DEVICE "/node_desc", name_of_device, SYSFS_FILE },
	{ DEVICE "/fw_ver", firmware, SYSFS_FILE },
	{ DEVICE "/ports/PORT/state", state, SYSFS_FILE },
	{ DEVICE "/ports/PORT/link_layer", link_layer, SYSFS_FILE },
	{ DEVICE "/ports/PORT/lid", lid, SYSFS_FILE },
	{ DEVICE "/ports/PORT/pkeys/PKEY", pkey, SYSFS_FILE },
	{ DEVICE "/ports/PORT/gids/GID", gid, SYSFS_FILE },
	{ DEVICE "/ports/PORT/gid_attrs/types/GID", gid_type, SYSFS_FILE },
	{ DEVICE "/ports/PORT/gid_attrs/ndevs/GID", gid_interface, SYSFS_FILE },
	{ "/sys/class/misc/rdma_cm/abi_version", abi_of_cm, SYSFS_FILE },
	{ "/sys/class/misc/rdma_cm/dev", number_of_cm, SYSFS_FILE },
	{ "/dev/infiniband/UVERBS", NULL, SYSFS_UVERBS },
	{ "/dev/infiniband/rdma_cm", NULL, SYSFS_UCMA },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* The kernel's folders of RDMA: below them programs see nothing of this machine. */
static const char *const roots[] = { "/sys/class/infiniband", "/sys/class/infiniband_verbs",
				     "/sys/class/misc/rdma_cm", "/dev/infiniband" };

/* ---- Words: each writes its Nth name, from 0; false: there are no more ---- */

static bool nth_device(uint32_t n, const char *format, struct place *place, char *name)
{
	uint32_t i;

	for (i = 0; i < sim_world->devices->n; i++) {
		place->device = &sim_world->devices->all[i];
		if (!sysfs_sees(place->device) || n--)
			continue;
		if (format)
			snprintf(name, SYSFS_MOST_TEXT, format, i);
		else
			snprintf(name, SYSFS_MOST_TEXT, "%s", place->device->name);
		return true;
	}
	return false;
}

static bool nth_number(uint32_t n, uint32_t first, uint32_t many, uint32_t *number, char *name)
{
	*number = first + n;
	snprintf(name, SYSFS_MOST_TEXT, "%u", *number);
	return n < many;
}

/* `place` has the values of the words before this one. Any other word stands for itself. */
static bool nth_name(const char *word, uint32_t n, struct place *place, char *name)
{
	if (!strcmp(word, "DEVICE"))
		return nth_device(n, NULL, place, name);
	if (!strcmp(word, "UVERBS"))
		return nth_device(n, "uverbs%u", place, name);
	if (!strcmp(word, "PORT"))
		return nth_number(n, 1, place->device->n_ports, &place->port, name);
	if (!strcmp(word, "PKEY"))
		return nth_number(n, 0, place->device->traits.port.pkey_tbl_len, &place->index,
				  name);
	if (!strcmp(word, "GID"))
		return nth_number(n, 0, sim_gid_places(place->device, place->port), &place->index,
				  name);
	snprintf(name, SYSFS_MOST_TEXT, "%s", word);
	return !n;
}

/* Returns where to begin the search: with a number, because a table of GIDs has a thousand places. */
static uint32_t first_to_try(const char *word, const char *name)
{
	uint32_t number = (uint32_t)strtoul(name, NULL, 10);

	if (!strcmp(word, "PORT"))
		return number - 1;
	return !strcmp(word, "GID") || !strcmp(word, "PKEY") ? number : 0;
}

static bool stands_for(const char *word, const char *name, struct place *place)
{
	char other[SYSFS_MOST_TEXT];
	uint32_t n;

	for (n = first_to_try(word, name); nth_name(word, n, place, other); n++) {
		if (!strcmp(other, name))
			return true;
		if (n > SIM_MOST_DEVICES)
			return false;
	}
	return false;
}

/* Takes the next word out of a path, without its slash. Returns false at its end. */
static bool next_word(const char **path, char word[SYSFS_MOST_TEXT])
{
	size_t length;

	while (**path == '/')
		(*path)++;
	length = strcspn(*path, "/");
	snprintf(word, SYSFS_MOST_TEXT, "%.*s", (int)length, *path);
	*path += length;
	return length;
}

/*
 * Follows a path along a row. Returns the rest of the row, which is empty if the path leads to the
 * file; NULL: the path leaves the row.
 */
static const char *follow(const char *row, const char *path, struct place *place)
{
	char word[SYSFS_MOST_TEXT], name[SYSFS_MOST_TEXT];

	*place = (struct place){ .device = NULL };
	while (next_word(&path, name)) {
		if (!next_word(&row, word) || !stands_for(word, name, place))
			return NULL;
	}
	return row;
}

/* ---- Paths ---- */

static bool is_of_kernel(const char *path)
{
	size_t i, length;

	for (i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		length = strlen(roots[i]);
		if (!strncmp(path, roots[i], length) && (!path[length] || path[length] == '/'))
			return true;
	}
	return false;
}

enum sysfs_kind sysfs_look(const char *path, struct sim_device **device)
{
	struct place place;
	const char *rest;
	size_t i;

	if (!sim_world || !path || !is_of_kernel(path))
		return SYSFS_OTHER;
	for (i = 0; i < ROWS; i++) {
		rest = follow(rows[i].path, path, &place);
		if (rest && *rest)
			return SYSFS_FOLDER;
		if (rest && device)
			*device = place.device;
		if (rest)
			return rows[i].kind;
	}
	return SYSFS_MISSING;
}

size_t sysfs_read(const char *path, char text[SYSFS_MOST_TEXT])
{
	struct place place;
	const char *rest;
	int length = 0;
	size_t i;

	for (i = 0; i < ROWS; i++) {
		rest = follow(rows[i].path, path, &place);
		if (rest && !*rest && rows[i].write)
			length = rows[i].write(&place, text);
	}
	return length < 0 ? 0 : (size_t)length;
}

/* Returns true if an earlier row has the same word at this place of the same folder. */
static bool is_told(const char *path, size_t row, const char *word)
{
	char other[SYSFS_MOST_TEXT];
	struct place place;
	const char *rest;
	size_t i;

	for (i = 0; i < row; i++) {
		rest = follow(rows[i].path, path, &place);
		if (rest && next_word(&rest, other) && !strcmp(other, word))
			return true;
	}
	return false;
}

bool sysfs_list(const char *path, unsigned int n, char name[SYSFS_MOST_TEXT], unsigned char *type)
{
	char word[SYSFS_MOST_TEXT];
	struct place place;
	const char *rest;
	uint32_t k;
	size_t i;

	for (i = 0; i < ROWS; i++) {
		rest = follow(rows[i].path, path, &place);
		if (!rest || !next_word(&rest, word) || is_told(path, i, word))
			continue;
		*type = *rest ? DT_DIR : rows[i].kind == SYSFS_FILE ? DT_REG : DT_CHR;
		for (k = 0; nth_name(word, k, &place, name); k++) {
			if (!n--)
				return true;
		}
	}
	return false;
}
