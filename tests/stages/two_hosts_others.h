/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests between two machines: stages with other options or results. Contract:
 * everything that they transfer arrives, although the link loses packets.
 */
#ifndef STAGES_TWO_HOSTS_OTHERS_H
#define STAGES_TWO_HOSTS_OTHERS_H

#include <check.h>
#include <stdbool.h>

/*
 * Adds a test case for each of these stages: its servers, or its clients, which run on the other
 * machine.
 */
void two_hosts_add_others(Suite *suite, bool servers);

#endif
