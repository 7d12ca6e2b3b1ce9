/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the private data of a connection. Contract: see connect_data.c.
 */
#ifndef FAKE_CONNECT_DATA_H
#define FAKE_CONNECT_DATA_H

#include "tests/fake/state.h"

/* What a client says when it connects; returns its length. */
size_t fake_connect_data(const struct fake_peer *peer, uint8_t *data);
/* What the program says then, and when it refuses a client. */
void fake_hear_connect_data(struct fake_peer *peer, const struct rdma_conn_param *param);
void fake_hear_refusal(const uint8_t *data, size_t length);
/* A server's answer to the program's request, as an event. False: it refuses. */
bool fake_answer(struct fake_id *id);

#endif
