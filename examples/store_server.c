/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A store of values by name for many clients, in one thread that sleeps. Requests, answers and small values
 * are messages; a value of up to 1 MiB the server READs from its client's memory, or WRITEs into it.
 *
 *     store_server ADDRESS
 *
 * A client has no more requests without an answer than the accept says, and each has a receive. The
 * server checks what a client says before it allocates anything, and limits all values together.
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "our_control.h"

#define PORT         "12321"
#define CREDITS      8             /* requests of a client without an answer */
#define BUFFERS      (2 * CREDITS) /* as answers are sent from the buffers of their requests */
#define MESSAGE      4096
#define SMALL        (MESSAGE - sizeof(struct header)) /* bytes of a value in a message */
#define LARGEST      ((1u << 20) + sizeof(uint64_t))   /* a value, and its client's checksum */
#define MOST_CLIENTS 256
#define MOST_BYTES   (64u << 20) /* for all values together, each with OVERHEAD */
#define OVERHEAD     256

/* Kinds of requests, and the status of an answer */
#define GET      1
#define PUT      2
#define DELETE   3
#define DONE     0
#define NO_VALUE 1
#define NO_ROOM  2

/* A request's index is that of its buffer, and the wr_id of its answer; other wr_ids have a bit more. */
#define READ_ID  (1ull << 32)
#define WRITE_ID (2ull << 32)

/* The head of each message, big-endian. A small value is behind it. */
struct header {
	uint32_t kind, tag; /* an answer has those of its request */
	uint32_t status;    /* in an answer */
	uint32_t length;    /* the value's; in a GET, the room at `address` */
	uint64_t address;   /* the place of a large value in the client's memory */
	uint32_t rkey, zero;
	char key[32]; /* text that ends with a zero */
};

/* The private data of the accept, big-endian: where a client may READ `counters`, as ping-mt-4 does. */
struct hello {
	uint64_t address;
	uint32_t rkey, credits;
};

static struct counters {
	uint64_t clients, values, bytes, requests, zeros[4];
} counters;

struct value {
	unsigned int users; /* its name, and transfers */
	uint32_t length;
	struct ibv_mr *mr; /* only if it is a large value */
	uint8_t data[];
};

struct name {
	char key[sizeof(((struct header *)0)->key)];
	struct value *value;
};

static struct client {
	struct our_control *agent;     /* NULL: there is none */
	struct value *values[BUFFERS]; /* requests', while the device writes or sends them */
} clients[MOST_CLIENTS];

static struct our_device *device;
static struct our_stop *stop; /* for the signal handler */
static void *names;           /* see tsearch(3) */
static struct hello hello;
static bool iwarp;

static void on_signal(int signal_number)
{
	(void)signal_number;
	our_stop_request(stop);
}

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "store_server: %s\n", our_error_text(error, text, sizeof(text)));
}

/* ---- Values ---- */

static void drop(struct value *value)
{
	if (!value || --value->users)
		return;
	if (value->mr)
		our_unsetup_mr(device->config, value->mr);
	counters.bytes -= value->length + OVERHEAD;
	free(value);
}

static struct value *new_value(uint32_t length)
{
	struct value *value = NULL;

	if (counters.bytes + length + OVERHEAD <= MOST_BYTES)
		value = malloc(sizeof(*value) + length);
	if (!value)
		return NULL;
	*value = (struct value){ .users = 1, .length = length };
	counters.bytes += length + OVERHEAD;
	return value;
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b); /* a key is first in its struct name */
}

static struct name *find(const char *key)
{
	struct name **found = tfind(key, &names, compare);

	return found ? *found : NULL;
}

static void forget(struct name *name)
{
	tdelete(name, &names, compare);
	drop(name->value);
	free(name);
	counters.values--;
}

/* Takes over the value, which replaces an older one. */
static uint32_t keep(const char *key, struct value *value)
{
	struct name *name = find(key);

	if (!name) {
		name = calloc(1, sizeof(*name));
		if (name)
			memcpy(name->key, key, sizeof(name->key));
		if (!name || !tsearch(name, &names, compare)) {
			free(name);
			drop(value);
			return NO_ROOM;
		}
		counters.values++;
	}
	drop(name->value);
	name->value = value;
	return DONE;
}

/* ---- A request, in its buffer, in which its answer is made ---- */

/* Posts a READ or WRITE of the request's value, and what is behind it. */
static int post_transfer(struct client *client, uint32_t index, struct ibv_send_wr wr)
{
	const struct header *header = (struct header *)client->agent->memory.buffers[index].data;
	const struct value *value = client->values[index];
	struct ibv_sge sge = { (uintptr_t)value->data, value->length, value->mr->lkey };

	wr.send_flags = IBV_SEND_SIGNALED;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.wr.rdma.remote_addr = be64toh(header->address);
	wr.wr.rdma.rkey = be32toh(header->rkey);
	return our_post(client->agent, &wr, NULL);
}

/*
 * A WRITE is in the client's memory when a receive completes there that is behind it: that of a message, or
 * the one that its own immediate data take, which soft-iWARP does not have. It is signaled, too: soft-iWARP
 * sends an unsignaled one without a copy, and nothing but an answer says that it is done with the value.
 */
static int answer(struct client *client, uint32_t index, uint32_t status)
{
	struct our_buffer *buffer = &client->agent->memory.buffers[index];
	struct header *header = (struct header *)buffer->data;
	struct value *value = client->values[index];
	struct ibv_sge sge = buffer->send_sge;
	struct ibv_send_wr write = { .wr_id = index }, message = buffer->send_wr;

	header->status = htobe32(status);
	header->length = htobe32(value ? value->length : 0);
	sge.length = sizeof(*header);
	message.sg_list = &sge;
	message.opcode = IBV_WR_SEND;
	message.send_flags = IBV_SEND_SIGNALED;
	if (value && value->length > SMALL) {
		write.opcode = iwarp ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM;
		write.wr_id |= iwarp ? WRITE_ID : 0;
		write.next = iwarp ? &message : NULL;
		write.imm_data = header->tag;
		return post_transfer(client, index, write);
	}
	if (value) {
		memcpy(header + 1, value->data, value->length);
		sge.length += value->length;
	}
	return our_post(client->agent, &message, NULL);
}

/*
 * READs a value, into memory that is opened alone: on iWARP the client learns a key by which it may WRITE
 * there. It loses that right before the value is kept.
 */
static int read_value(struct client *client, uint32_t index, uint32_t length)
{
	int access = IBV_ACCESS_LOCAL_WRITE | (iwarp ? IBV_ACCESS_REMOTE_WRITE : 0);
	struct ibv_send_wr read = { .wr_id = READ_ID | index, .opcode = IBV_WR_RDMA_READ };
	struct value *value = new_value(length);

	if (!value || our_device_setup_mr(device, value->data, length, access, &value->mr)) {
		drop(value);
		return answer(client, index, NO_ROOM);
	}
	client->values[index] = value;
	return post_transfer(client, index, read);
}

static int keep_what_was_read(struct client *client, uint32_t index)
{
	const struct header *header = (struct header *)client->agent->memory.buffers[index].data;
	struct value *value = client->values[index];

	client->values[index] = NULL;
	our_unsetup_mr(device->config, value->mr);
	if (!our_device_setup_mr(device, value->data, value->length, 0, &value->mr))
		return answer(client, index, keep(header->key, value));
	value->mr = NULL;
	drop(value);
	return answer(client, index, NO_ROOM);
}

static uint32_t get_or_delete(const struct header *header, struct value **value)
{
	struct name *name = find(header->key);

	if (!name)
		return NO_VALUE;
	if (be32toh(header->kind) == DELETE) {
		forget(name);
		return DONE;
	}
	if (name->value->length > be32toh(header->length))
		return NO_ROOM;
	*value = name->value;
	(*value)->users++;
	return DONE;
}

static bool is_request(const struct header *header, uint32_t length)
{
	uint32_t kind = be32toh(header->kind), value = be32toh(header->length);

	if (length < sizeof(*header) || !*header->key || header->key[sizeof(header->key) - 1])
		return false;
	length -= sizeof(*header);
	return kind == PUT ? value <= LARGEST && length == (value > SMALL ? 0 : value)
			   : (kind == GET || kind == DELETE) && !length;
}

static int take_request(struct client *client, uint32_t index, uint32_t length)
{
	const struct header *header = (struct header *)client->agent->memory.buffers[index].data;
	struct value *value;

	if (!is_request(header, length)) {
		fprintf(stderr, "store_server: a client's message is no request\n");
		return EPROTO;
	}
	counters.requests++;
	if (be32toh(header->kind) != PUT)
		return answer(client, index, get_or_delete(header, &client->values[index]));
	if (be32toh(header->length) > SMALL)
		return read_value(client, index, be32toh(header->length));
	value = new_value(be32toh(header->length));
	if (!value)
		return answer(client, index, NO_ROOM);
	memcpy(value->data, header + 1, value->length);
	return answer(client, index, keep(header->key, value));
}

static int take_completion(struct client *client, const struct our_completion *completion)
{
	uint32_t index = our_buffer_index(completion->wr_id);

	if (our_is_recv(completion->wr_id))
		return take_request(client, index, completion->byte_len);
	if (completion->wr_id & READ_ID)
		return keep_what_was_read(client, index);
	if (completion->wr_id & WRITE_ID)
		return 0; /* its message is behind it */
	drop(client->values[index]);
	client->values[index] = NULL;
	return our_post_recv(client->agent, index);
}

/* ---- Clients ---- */

/* Gives up its values when its QP is gone, because until then the device may write or send them. */
static void end_client(struct client *client)
{
	int i;

	our_close(client->agent);
	for (i = 0; i < BUFFERS; i++)
		drop(client->values[i]);
	memset(client, 0, sizeof(*client));
	counters.clients--;
}

static int set_up(struct our_control *agent)
{
	uint32_t i;
	int ret;

	ret = our_use_device(agent, device);
	if (!ret) /* a READ, or a WRITE and a message */
		ret = our_setup_qp(agent, 2 * BUFFERS, BUFFERS);
	if (!ret)
		ret = our_setup_buffers(agent, BUFFERS, MESSAGE, IBV_ACCESS_LOCAL_WRITE);
	for (i = 0; i < BUFFERS && !ret; i++)
		ret = our_post_recv(agent, i);
	return ret ? ret : our_agent_accept(agent, &hello, sizeof(hello));
}

static void start_client(struct our_control *agent)
{
	struct client *client = clients;

	if (counters.clients == MOST_CLIENTS)
		fprintf(stderr, "store_server: a client is refused: there are %d\n", MOST_CLIENTS);
	if (counters.clients == MOST_CLIENTS || set_up(agent)) {
		our_close(agent); /* this refuses the client */
		return;
	}
	while (client->agent)
		client++;
	client->agent = agent;
	agent->user = client;
	counters.clients++;
}

/* ---- The loop ---- */

/* Returns 0, or an errno value that ends the server. */
static int react(const struct our_event *event)
{
	switch (event->type) {
	case OUR_EVENT_REQUEST:
		start_client(event->control);
		return 0;
	case OUR_EVENT_COMPLETION:
		if (take_completion(event->control->user, &event->completion))
			end_client(event->control->user);
		return 0;
	case OUR_EVENT_END:
		if (event->control->role == OUR_LISTENER)
			return event->error; /* nobody can connect any more */
		end_client(event->control->user);
		return our_device_end(device);
	case OUR_EVENT_STOP:
		return EINTR;
	default:
		return 0;
	}
}

static int serve(struct our_poll_group *group)
{
	struct pollfd events = { .fd = our_fd(group), .events = POLLIN };
	struct our_event event;
	int ret = 0;

	fprintf(stderr, "store_server: listening\n");
	while (!ret) {
		ret = our_process(group, &event);
		if (!ret)
			ret = react(&event);
		else if (ret == EAGAIN)
			ret = poll(&events, 1, -1) < 0 && errno != EINTR ? errno : 0;
	}
	return ret == EINTR ? 0 : ret;
}

static int run(struct our_config *config, struct sockaddr *address)
{
	struct our_control *listener = NULL;
	struct our_poll_group *group;
	struct ibv_mr *mr = NULL;
	int i, ret;

	ret = our_create_poll_group(config, &group);
	if (!ret)
		ret = our_create_control_struct(config, OUR_LISTENER, &listener);
	if (!ret)
		ret = our_join_poll_group(listener, group);
	if (!ret)
		ret = our_create_id(listener);
	if (!ret)
		ret = our_listener_bind(listener, address, 64);
	if (!ret)
		ret = our_create_device(config, listener->verbs, &device);
	if (!ret)
		ret = our_device_setup_mr(device, &counters, sizeof(counters),
					  IBV_ACCESS_REMOTE_READ, &mr);
	if (!ret) {
		/* A keepalive of soft-iWARP is a READ, and ends a connection if it meets another. */
		iwarp = listener->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
		config->keepalive_s = iwarp ? 0 : config->keepalive_s;
		hello = (struct hello){ htobe64((uintptr_t)&counters), htobe32(mr->rkey),
					htobe32(CREDITS) };
		ret = serve(group);
	}
	for (i = 0; i < MOST_CLIENTS; i++) {
		if (clients[i].agent)
			end_client(&clients[i]);
	}
	while (names)
		forget(*(struct name **)names); /* a node of the tree begins so */
	if (mr) /* after the connections, because otherwise a client's READ would fail */
		our_unsetup_mr(config, mr);
	our_close_device(device);
	our_close(listener);
	our_close_poll_group(group);
	return ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.timeout_s = 10, /* to connect */
		.keepalive_s = 5,
		.stall_s = 10,
	};
	struct addrinfo *address;
	int ret;

	if (argc != 2) {
		fprintf(stderr, "usage: store_server ADDRESS\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], PORT, NULL, &address);
	if (ret) {
		fprintf(stderr, "store_server: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	ret = our_create_stop(&stop);
	if (ret) {
		fprintf(stderr, "store_server: our_create_stop: %s\n", strerror(ret));
		freeaddrinfo(address);
		return 1;
	}
	config.stop = stop;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run(&config, address->ai_addr);
	our_destroy_stop(stop);
	freeaddrinfo(address);
	return ret ? 1 : 0;
}
