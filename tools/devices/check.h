/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices --check: the reasons why RDMA to or from an address fails; each depends on those before
 * it. Each step is a function that checks one thing.
 */
#ifndef DEVICES_CHECK_H
#define DEVICES_CHECK_H

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "devices/devices.h"

enum check_verdict {
	CHECK_OK,
	CHECK_FAILS,
	CHECK_UNKNOWN, /* this side cannot tell */
	CHECK_SKIPPED, /* not checked after an earlier failure */
};

#define CHECK_TEXT 600

struct check {
	const char *address, *port;    /* as the user typed them */
	const struct sockaddr *target; /* NULL: none is known */
	struct sockaddr_storage own;   /* the target, if the user gave none */
	char own_text[INET6_ADDRSTRLEN];
	struct devices devices;
	bool opened;                         /* `devices` has been filled in */
	bool local;                          /* the address belongs to this machine */
	struct sockaddr_storage source;      /* the target, or the source of packets to it */
	char netdev[IF_NAMESIZE];            /* it has the source address; "": not known */
	const struct devices_device *device; /* the device on that netdev; NULL: none */
	const struct devices_port *device_port;
	/* The report of the last step. */
	char text[CHECK_TEXT];
	char remedy[CHECK_TEXT]; /* from the first step that fails */
};

/* words.c: both return the verdict, so that a step can end with one; `format` is printf's. */
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
/* Sets the target: an address of a network device here that carries an RDMA device. */
void check_own_address(struct check *check);
enum check_verdict check_address(struct check *check);
enum check_verdict check_netdev(struct check *check);
enum check_verdict check_link(struct check *check);
enum check_verdict check_port_state(struct check *check);
enum check_verdict check_gid(struct check *check);
enum check_verdict check_subnet(struct check *check);

/* check_cm.c */
enum check_verdict check_cm(struct check *check);
enum check_verdict check_mtu(struct check *check);
enum check_verdict check_firewall(struct check *check);
enum check_verdict check_peer(struct check *check);

#endif
