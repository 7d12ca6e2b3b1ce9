/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Addresses of sockets as names of UNIX-domain sockets. See libc.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "verbs-sim/calls/libc.h"

socklen_t sim_size_of(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in);
}

static void write_hex(char *text, const struct sockaddr_storage *address)
{
	const uint8_t *byte = (const uint8_t *)address;
	socklen_t i;

	for (i = sizeof(sa_family_t); i < sim_size_of(address); i++)
		text += sprintf(text, "%02x", byte[i]);
}

static void read_hex(const char *text, struct sockaddr_storage *address, int family)
{
	uint8_t *byte = (uint8_t *)address;
	unsigned int value;
	socklen_t i;

	memset(address, 0, sizeof(*address));
	address->ss_family = (sa_family_t)family;
	for (i = sizeof(sa_family_t); i < sim_size_of(address) && sscanf(text, "%2x", &value) == 1;
	     i++) {
		byte[i] = (uint8_t)value;
		text += 2;
	}
}

/* The name is in the abstract namespace: it begins with a zero byte. */
static socklen_t name_it(struct sockaddr_un *name, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static socklen_t name_it(struct sockaddr_un *name, const char *format, ...)
{
	va_list arguments;
	int length;

	memset(name, 0, sizeof(*name));
	name->sun_family = AF_UNIX;
	va_start(arguments, format);
	length = vsnprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, format, arguments);
	va_end(arguments);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

socklen_t sim_name_listener(struct sockaddr_un *name, int family, in_port_t port)
{
	return name_it(name, "verbs-sim %d %d %d", sim_world->runner_pid, family, ntohs(port));
}

/* Without scope and zeros of padding: a name has at most 107 bytes. */
socklen_t sim_name_client(struct sockaddr_un *name, const struct sockaddr_storage *own,
			  const struct sockaddr_storage *peer)
{
	char first[2 * sizeof(struct sockaddr_in6) + 1], second[sizeof(first)];

	write_hex(first, own);
	write_hex(second, peer);
	return name_it(name, "c%d %x %.44s %.44s", sim_world->runner_pid, own->ss_family, first,
		       second);
}

bool sim_read_client(const struct sockaddr_un *name, struct sockaddr_storage *own,
		     struct sockaddr_storage *peer)
{
	char first[64], second[64];
	unsigned int family;
	int pid;

	if (sscanf(name->sun_path + 1, "c%d %x %63s %63s", &pid, &family, first, second) != 4)
		return false;
	read_hex(first, own, (int)family);
	read_hex(second, peer, (int)family);
	return true;
}
