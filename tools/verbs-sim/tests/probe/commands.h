/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: commands of the connection manager, written to the kernel as librdmacm writes them. They
 * have a file of their own, because the kernel's header and librdmacm's define the same names.
 */
#ifndef PROBE_COMMANDS_H
#define PROBE_COMMANDS_H

#include <stdint.h>

/* Returns the name of command i, or NULL if there are no more. */
const char *command_name(int i);

/* Writes command i with this id to a channel. Returns 0 or an errno value. */
int command_write(int fd, int i, uint32_t id);

/* Returns the kernel's number of a new id of a channel, which librdmacm tells nobody; 0: it failed. */
uint32_t command_new_id(int fd);

#endif
