/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Declarations that the files of tests/parts share: see parts.c. Each run_...() is a thread: it
 * returns 0 or an errno value as a pointer.
 */
#ifndef PARTS_H
#define PARTS_H

#include <stdint.h>

#include "our_control.h"

#define CLIENTS  8 /* clients of one thread; the others have a thread each */
#define MESSAGES 100
#define SIZE     1000
#define SHORT    8 /* goes inline; with messages of both lengths a buffer is posted both ways */

enum {
	RECEIVED,
	SENT,
	N_BUFFERS
};

extern const struct our_config config;

/* Returns EPROTO, with a line on stderr, unless `right`. */
int expect(bool right, const char *what);

/* A client whose ->verbs is known. *client is set also after an error. */
int bind_client(const struct our_config *its, struct our_stop *stop, struct sockaddr *server,
		struct our_control **client);

/* Clients of the workers at that address: many, one that is woken, one with a CQ for its sends. */
void *run_many(void *address);
void *run_woken(void *address);
void *run_apart(void *address);

/* Another listener: a server with a buffer that its clients may READ and WRITE, and the clients. */
void *run_opened_server(void *listener);
void *run_opened_clients(void *address);

#endif
