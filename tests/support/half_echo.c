/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * half_echo: a library for examples/others/echo.c, of which no library is needed. Three messages
 * have an answer; then the server leaves.
 */
#include <string.h>

#include "echo.h"

void server(const char *address, const char *port)
{
	(void)address;
	(void)port;
}

void client(const char *address, const char *port)
{
	int i;

	server(address, port);
	for (i = 0; i < 3 && next_message(); i++) {
		memcpy(buffers[1], buffers[0], message_size);
		check_answer();
	}
}
