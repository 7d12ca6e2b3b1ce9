/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Puts values into the memory of store_server by RDMA WRITE, and gets them by RDMA READ: the server's
 * program does nothing for it. A value may be read while another client changes it: a checksum tells
 * whether a copy is whole, whatever the order in which bytes appear.
 *
 *     store_client ADDRESS put KEY VALUE      a KEY is a number from 0 to 1023
 *     store_client ADDRESS get KEY
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "our_control.h"

#define PORT       "12321"
#define SLOTS      1024
#define MOST_READS 100 /* limit, for a value that changes all the time */

struct slot {
	uint64_t checksum; /* the value's; big-endian */
	char value[56];    /* text, padded with zeros */
};

/* The private data that the server sends with its accept. */
struct where {
	uint64_t address; /* the first of SLOTS slots; big-endian, and so is rkey */
	uint32_t rkey;
	uint32_t zero;
};

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "store_client: %s\n", our_error_text(error, text, sizeof(text)));
}

/* Computes FNV-1a, which does not match in a slot of zeros, without a value. */
static uint64_t checksum_of(const struct slot *slot)
{
	uint64_t sum = 0xcbf29ce484222325;
	size_t i;

	for (i = 0; i < sizeof(slot->value); i++)
		sum = (sum ^ (unsigned char)slot->value[i]) * 0x100000001b3;
	return htobe64(sum);
}

/* READs slot `key` into the client's one buffer, until the copy is whole. */
static int get(struct our_control *client, const struct where *where, unsigned long key)
{
	struct slot *slot = (struct slot *)client->memory.buffers[0].data;
	uint64_t address = be64toh(where->address) + key * sizeof(*slot);
	struct our_completion completion;
	int i, ret;

	for (i = 0; i < MOST_READS; i++) {
		ret = our_post_read(client, 0, sizeof(*slot), address, be32toh(where->rkey));
		if (!ret)
			ret = our_await_completion(client, &completion);
		if (ret || slot->checksum == checksum_of(slot))
			return ret;
	}
	return ENOENT;
}

/*
 * On some transports the completion of a WRITE does not show that the value is in the server's
 * memory. A READ that is posted after it does.
 */
static int put(struct our_control *client, const struct where *where, unsigned long key,
	       const char *value)
{
	struct slot *slot = (struct slot *)client->memory.buffers[0].data;
	uint64_t address = be64toh(where->address) + key * sizeof(*slot);
	struct our_completion completion;
	int ret;

	memset(slot, 0, sizeof(*slot));
	memcpy(slot->value, value, strlen(value));
	slot->checksum = checksum_of(slot);
	ret = our_post_write(client, 0, sizeof(*slot), address, be32toh(where->rkey));
	if (!ret)
		ret = our_await_completion(client, &completion);
	if (!ret)
		ret = get(client, where, key);
	if (!ret && strncmp(slot->value, value, sizeof(slot->value)))
		fprintf(stderr, "store_client: another client has changed it since\n");
	return ret;
}

static int use(struct our_control *client, unsigned long key, const char *value)
{
	const struct slot *slot = (struct slot *)client->memory.buffers[0].data;
	struct where where;
	int ret;

	memcpy(&where, client->cm_event.private_data, sizeof(where)); /* from the accept */
	if (!where.address) {
		fprintf(stderr, "store_client: this is no store_server\n");
		return EPROTO;
	}
	ret = value ? put(client, &where, key, value) : get(client, &where, key);
	if (ret == ENOENT)
		fprintf(stderr, "store_client: key %lu has no value\n", key);
	if (!ret && !value)
		printf("%.*s\n", (int)sizeof(slot->value), slot->value);
	return ret;
}

/* On iWARP the server's device writes the answer to a READ, and needs the right to write. */
static int access_to_read(const struct our_control *client)
{
	bool iwarp = client->verbs->device->transport_type == IBV_TRANSPORT_IWARP;

	return IBV_ACCESS_LOCAL_WRITE | (iwarp ? IBV_ACCESS_REMOTE_WRITE : 0);
}

static int ask(const struct our_config *config, struct sockaddr *server, unsigned long key,
	       const char *value)
{
	struct our_control *client;
	int ret;

	ret = our_create_control_struct(config, OUR_CLIENT, &client);
	if (!ret)
		ret = our_create_id(client);
	if (!ret)
		ret = our_client_bind(client, server);
	if (!ret)
		ret = our_setup_qp(client, 1, 1);
	if (!ret)
		ret = our_setup_buffers(client, 1, sizeof(struct slot), access_to_read(client));
	if (!ret)
		ret = our_client_connect(client, NULL, 0);
	if (!ret)
		ret = our_report_end(client, use(client, key, value));
	if (ret == ECONNRESET)
		fprintf(stderr, "store_client: the server has left\n");
	our_close(client);
	return ret;
}

/* Returns true for a number of digits alone. */
static bool is_key(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text) &&
	       strtoul(text, NULL, 10) < SLOTS;
}

/* Reads the command line; if it is wrong, prints the usage and returns false. */
static bool is_usage(int argc, char **argv)
{
	bool puts = argc == 5 && !strcmp(argv[2], "put") &&
		    strlen(argv[4]) <= sizeof(((struct slot *)0)->value);
	bool gets = argc == 4 && !strcmp(argv[2], "get");

	if ((puts || gets) && is_key(argv[3]))
		return true;
	fprintf(stderr, "usage: store_client ADDRESS put KEY VALUE | get KEY\n"
			"A KEY is a number from 0 to 1023, and a VALUE has at most 56 bytes.\n");
	return false;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_busy_polling },
		.report = report,
		.timeout_s = 10,
	};
	struct addrinfo *server;
	int ret;

	if (!is_usage(argc, argv))
		return 2;
	ret = getaddrinfo(argv[1], PORT, NULL, &server);
	if (ret) {
		fprintf(stderr, "store_client: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = ask(&config, server->ai_addr, strtoul(argv[3], NULL, 10), argv[4]);
	freeaddrinfo(server);
	if (fflush(stdout)) {
		perror("store_client: stdout");
		ret = EIO;
	}
	return ret ? 1 : 0;
}
