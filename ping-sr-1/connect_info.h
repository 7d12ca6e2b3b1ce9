/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The private data of a connect request and of a refusal: from structures to bytes and back. The
 * layout is in docs/protocol.md.
 */
#ifndef OUR_CONNECT_INFO_H
#define OUR_CONNECT_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/stage.h"

#define OUR_CONNECT_INFO_MAGIC   0x4f555231u /* "OUR1" */
#define OUR_CONNECT_INFO_VERSION 1
#define OUR_CONNECT_INFO_LENGTH  32
#define OUR_REFUSAL_LENGTH       16

/* The most messages, and the largest, that a server accepts (--max-count, --max-size). */
extern struct our_client_limits {
	uint64_t max_count;
	uint64_t max_size;
} our_client_limits;

/* The functions by which client and server tell each other the values below. connect_info.c. */
extern const struct our_connect_info_ops our_private_data;

/* The options for these limits, and the options that have no effect. */
extern const struct our_option our_client_limits_options[];

/* The private data from client to server, with rdma_connect. */
struct our_connect_info {
	uint64_t count;          /* messages the client is going to send */
	uint64_t data_size;      /* bytes a message */
	uint64_t n_data_buffers; /* blast; 0 for ping */
	bool has_extension;      /* the request read has our extension; each one written has it */
};

/* The reason in the private data from server to client, with rdma_reject. */
enum our_refusal_reason {
	OUR_REFUSED_NOT = 0,
	OUR_REFUSED_NO_SENSE = 1,    /* truncated, or magic, version or length are not ours */
	OUR_REFUSED_COUNT = 2,       /* 0, or more than `limit` */
	OUR_REFUSED_SIZE = 3,        /* 0, or more than `limit` bytes */
	OUR_REFUSED_BUFFERS = 4,     /* 0 where some are needed, or more than `limit` */
	OUR_REFUSED_RESOURCES = 5,   /* the server lacks something else */
	OUR_REFUSED_BUSY = 6,        /* the server has the `limit` clients that it is to serve */
	OUR_REFUSED_DESCRIPTORS = 7, /* the server has no file descriptor left */
	OUR_REFUSED_MEMORY = 8,      /* the server has only `limit` bytes left for clients */
	OUR_REFUSED_MAX_CLIENTS = 9, /* the server serves `limit` at a time; 0: too many wait */
};

struct our_refusal {
	enum our_refusal_reason reason;
	uint64_t limit;
};

/* Writes `info` with our extension into data[OUR_CONNECT_INFO_LENGTH]. */
void our_encode_connect_info(const struct our_connect_info *info, uint8_t *data);

/*
 * Reads what a client sent: `length` bytes at `data`, of which some at the end may be the
 * transport's padding. Accepts a client that sends only count and size, or these and the buffers.
 * Returns 0 and *info, or EPROTO. Checks no values except those of the extension itself.
 */
int our_decode_connect_info(const uint8_t *data, size_t length, struct our_connect_info *info);

/* Writes `refusal` into data[OUR_REFUSAL_LENGTH]. */
void our_encode_refusal(const struct our_refusal *refusal, uint8_t *data);

/* Reads a refusal. Returns 0 and *refusal, or EPROTO if it came from a program that is not ours. */
int our_decode_refusal(const uint8_t *data, size_t length, struct our_refusal *refusal);

/* None of these functions keeps state, allocates or reports. Any thread may call them. */

#endif
