/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the private data of a connection. Contract: see connect_data.c.
 */
#ifndef FAKE_CONNECT_DATA_H
#define FAKE_CONNECT_DATA_H

#include "tests/fake/state.h"

/* Writes what a client sends when it connects; returns its length. */
size_t fake_connect_data(const struct fake_peer *peer, uint8_t *data);
/* Checks what the program sends when it connects or accepts, and when it refuses a client. */
void fake_hear_connect_data(struct fake_peer *peer, const struct rdma_conn_param *param);
void fake_hear_refusal(const uint8_t *data, size_t length);
/*
 * Makes an event with a server's answer to the program's request. Returns false if the server
 * refuses.
 */
bool fake_answer(struct fake_id *id);

#endif
