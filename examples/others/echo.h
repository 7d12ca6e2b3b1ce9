/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The echo on other libraries: the parts that do not depend on the library. Each file of this
 * folder defines `server` and `client` for one library; echo.c has main.
 */
#ifndef EXAMPLES_OTHERS_ECHO_H
#define EXAMPLES_OTHERS_ECHO_H

#include <stdbool.h>
#include <stddef.h>

struct addrinfo;

#define N_BUFFERS 2
#define MAX_SIZE  65536 /* most bytes in a message */

/* Both return when the peer has left, or exit by die. The server serves one client. */
void server(const char *address, const char *port);
void client(const char *address, const char *port);

extern char buffers[N_BUFFERS][MAX_SIZE]; /* the client sends from 0 and receives into 1 */
extern size_t message_size;               /* bytes in each message of the client */

void say_listening(void);

bool next_message(void); /* writes the next message, unless all have been sent */
void check_answer(void); /* exits if the bytes are not the message */
struct addrinfo *resolve(const char *address, const char *port);
/* Exits with a message if `done` is false. If `why` is NULL, errno says why. */
void must(bool done, const char *call, const char *why);

#endif
