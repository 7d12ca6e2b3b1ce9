/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: writes types that are arguments of many verbs, and the descriptors that
 * poll(2) and the like wait for, with -w. See say.h.
 */
#include <arpa/inet.h>
#include <stdio.h>

#include <rdma/rdma_cma.h>

#include "verbs-trace/tool/say.h"
#include "verbs-trace/tool/settings.h"

#define MAGIC 0x4f555231u /* see docs/protocol.md */

void say_pointer(struct out *out, const char *name, const void *pointer)
{
	char text[32] = "NULL";

	if (pointer)
		snprintf(text, sizeof(text), "%p", pointer);
	if (out->json && !pointer)
		out_string(out, name, NULL);
	else
		out_word(out, name, text);
}

/* ---- Private data ---- */

static uint64_t big_endian(const uint8_t *data, size_t size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | *data++;
	return value;
}

/*
 * With -p: shows the meaning of the bytes, if they are a connect request or a refusal of
 * docs/protocol.md.
 */
static void say_wire(struct out *out, const uint8_t *data, size_t length)
{
	if (length >= 32 && big_endian(data + 24, 4) == MAGIC) {
		out_open(out, "connect_info");
		out_unsigned(out, "count", big_endian(data, 8));
		out_unsigned(out, "data_size", big_endian(data + 8, 8));
		out_unsigned(out, "n_data_buffers", big_endian(data + 16, 8));
		out_unsigned(out, "version", big_endian(data + 28, 2));
		out_close(out);
	} else if (length >= 16 && big_endian(data, 4) == MAGIC) {
		out_open(out, "refusal");
		out_unsigned(out, "version", big_endian(data + 4, 2));
		out_unsigned(out, "reason", big_endian(data + 6, 2));
		out_unsigned(out, "limit", big_endian(data + 8, 8));
		out_close(out);
	}
}

void say_private_data(struct out *out, const char *name, const void *data, size_t length)
{
	if (!data || !length)
		return;
	out_bytes(out, name, data, length);
	if (settings.decode_wire)
		say_wire(out, data, length);
}

void say_request(struct out *out, const struct rdma_cm_id *id)
{
	const struct rdma_cm_event *event = id->event;

	if (event && event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		say_private_data(out, "private_data", event->param.conn.private_data,
				 event->param.conn.private_data_len);
}

/* ---- Objects, and others ---- */

/* Writes an object that this call has created: its name, and, only here, its pointer. */
void say_new(struct call *call, const char *name, enum kind kind, const void *pointer)
{
	struct object *object = object_of(kind, pointer);

	if (call->error)
		return;
	out_known(call->out, name, object, pointer);
	if (object && call->out->json)
		out_raw(call->out, ",\"%s_pointer\":\"%p\"", name, pointer);
	else if (object)
		out_raw(call->out, " (%p)", pointer);
	if (kind == KIND_ID)
		say_request(call->out, pointer);
}

void say_made(struct call *call, enum kind kind, const void *pointer)
{
	struct object *object = object_of(kind, pointer);
	struct out *out = call_result(call);
	const char *name = FOR_JSON(out, "result");

	if (!object) {
		say_pointer(out, name, pointer);
		return;
	}
	out_known(out, name, object, pointer);
	out_raw(out, out->json ? ",\"pointer\":\"%p\"" : " (%p)", pointer);
	if (kind == KIND_QP)
		out_unsigned(out, "qp_num", ((const struct ibv_qp *)pointer)->qp_num);
}

void say_object(struct out *out, const char *name, const void *pointer, enum kind kind)
{
	out_object(out, name, kind, pointer);
}

void say_labelled(struct out *out, const char *name, const void *pointer, enum kind kind)
{
	struct object *object = object_of(kind, pointer);
	char text[48];

	if (!object) {
		say_pointer(out, name, pointer);
		return;
	}
	out_word(out, name, object_name(object, text, sizeof(text)));
}

void say_int(struct out *out, const char *name, const int *value)
{
	if (value)
		out_signed(out, name, *value);
}

void say_hex(struct out *out, const char *name, uint64_t value)
{
	out_hex(out, name, value);
}

void say_bytes(struct out *out, const char *name, const void *data, size_t length)
{
	if (data)
		out_bytes(out, name, data, length);
}

void say_gid(struct out *out, const char *name, const union ibv_gid *gid)
{
	char text[INET6_ADDRSTRLEN] = "NULL";

	if (gid)
		inet_ntop(AF_INET6, gid->raw, text, sizeof(text));
	out_word(out, name, text);
}

void say_address(struct out *out, const char *name, const struct sockaddr *address)
{
	const struct sockaddr_in *ipv4 = (const void *)address;
	const struct sockaddr_in6 *ipv6 = (const void *)address;
	char host[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 16];

	if (!address) {
		say_pointer(out, name, NULL);
	} else if (address->sa_family == AF_INET) {
		inet_ntop(AF_INET, &ipv4->sin_addr, host, sizeof(host));
		snprintf(text, sizeof(text), "%s:%u", host, ntohs(ipv4->sin_port));
		out_word(out, name, text);
	} else if (address->sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &ipv6->sin6_addr, host, sizeof(host));
		snprintf(text, sizeof(text), "[%s]:%u", host, ntohs(ipv6->sin6_port));
		out_word(out, name, text);
	} else {
		snprintf(text, sizeof(text), "family-%u", address->sa_family);
		out_word(out, name, text);
	}
}

void say_immediate(struct out *out, const char *name, __be32 value)
{
	out_hex(out, name, ntohl(value));
}

/* ---- Descriptors ---- */

struct sought {
	int fd;
	struct object *found;
};

static int fd_of(const struct object *object)
{
	switch (object->kind) {
	case KIND_COMP_CHANNEL:
		return ((const struct ibv_comp_channel *)object->pointer)->fd;
	case KIND_EVENT_CHANNEL:
		return ((const struct rdma_event_channel *)object->pointer)->fd;
	default:
		return ((const struct ibv_context *)object->pointer)->async_fd;
	}
}

static void compare(struct object *object, void *argument)
{
	struct sought *sought = argument;

	if (fd_of(object) == sought->fd)
		sought->found = object;
}

void say_pollfds(struct out *out, const char *name, const struct pollfd *fds, nfds_t n)
{
	struct sought sought;
	nfds_t i;

	out_open_list(out, name);
	for (i = 0; fds && i < n; i++) {
		sought = (struct sought){ fds[i].fd, NULL };
		objects_each(KIND_COMP_CHANNEL, compare, &sought);
		objects_each(KIND_EVENT_CHANNEL, compare, &sought);
		objects_each(KIND_CONTEXT, compare, &sought);
		out_open(out, NULL);
		out_signed(out, "fd", fds[i].fd);
		if (sought.found)
			out_known(out, "of", sought.found, sought.found->pointer);
		say_poll_events(out, "events", (unsigned short)fds[i].events);
		say_poll_events(out, "revents", (unsigned short)fds[i].revents);
		out_close(out);
	}
	out_close_list(out);
}
