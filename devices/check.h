/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices --check: the reasons why RDMA to or from an address fails, in the order in which one depends
 * on another. Each is a function that looks at one thing.
 */
#ifndef DEVICES_CHECK_H
#define DEVICES_CHECK_H

#include <netdb.h>
#include <sys/socket.h>

#include "devices/devices.h"

enum check_verdict {
	CHECK_OK,
	CHECK_FAILS,
	CHECK_UNKNOWN, /* cannot be told from here */
	CHECK_SKIPPED, /* makes no sense after what has failed before */
};

#define CHECK_TEXT 600

struct check {
	const char *address, *port; /* as typed */
	const struct sockaddr *target;
	struct devices devices;
	bool opened;                         /* `devices` has been filled in */
	bool local;                          /* the address is one of this machine's */
	struct sockaddr_storage source;      /* it, or the one that packets to it leave with */
	char netdev[IF_NAMESIZE];            /* which has that address; "": not known */
	const struct devices_device *device; /* on that netdev; NULL: none */
	const struct devices_port *device_port;
	/* What the step that has just been made has to say. */
	char text[CHECK_TEXT];
	char remedy[CHECK_TEXT]; /* of the first that fails */
};

/* Both return the verdict, so that a step can end with one; `format` is printf's. */
enum check_verdict check_say(struct check *check, enum check_verdict verdict, const char *format,
			     ...) __attribute__((format(printf, 3, 4)));
enum check_verdict check_fail(struct check *check, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* check_machine.c */
enum check_verdict check_kernel_device(struct check *check);
enum check_verdict check_verbs_node(struct check *check);
enum check_verdict check_cm_node(struct check *check);
enum check_verdict check_library(struct check *check);
enum check_verdict check_memlock(struct check *check);

/* check_address.c */
enum check_verdict check_address(struct check *check);
enum check_verdict check_netdev(struct check *check);
enum check_verdict check_link(struct check *check);
enum check_verdict check_port_state(struct check *check);
enum check_verdict check_gid(struct check *check);

/* check_cm.c */
enum check_verdict check_cm(struct check *check);
enum check_verdict check_mtu(struct check *check);
enum check_verdict check_firewall(struct check *check);
enum check_verdict check_peer(struct check *check);

#endif
