/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: see commands.h.
 */
#include <errno.h>
#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

union request {
	struct rdma_ucm_destroy_id destroy;
	struct rdma_ucm_bind_ip bind;
	struct rdma_ucm_resolve_ip resolve;
	struct rdma_ucm_resolve_route route;
	struct rdma_ucm_query query;
	struct rdma_ucm_connect connect;
	struct rdma_ucm_listen listen;
	struct rdma_ucm_accept accept;
	struct rdma_ucm_reject reject;
	struct rdma_ucm_disconnect disconnect;
	struct rdma_ucm_init_qp_attr attr;
	struct rdma_ucm_notify notify;
	struct rdma_ucm_set_option option;
	struct rdma_ucm_join_ip_mcast join;
};

/* TELLS is for commands without an answer. */
#define ASKS(name, field)                                                               \
	{                                                                               \
#name, RDMA_USER_CM_CMD_##name, offsetof(union request, field.id), true \
	}
#define TELLS(name, field)                                                               \
	{                                                                                \
#name, RDMA_USER_CM_CMD_##name, offsetof(union request, field.id), false \
	}
static const struct command {
	const char *name;
	uint32_t number;
	size_t id; /* offset in the request */
	bool asks;
} commands[] = {
	TELLS(BIND_IP, bind),      TELLS(RESOLVE_IP, resolve), TELLS(RESOLVE_ROUTE, route),
	ASKS(QUERY_ROUTE, query),  TELLS(CONNECT, connect),    TELLS(LISTEN, listen),
	TELLS(ACCEPT, accept),     TELLS(REJECT, reject),      TELLS(DISCONNECT, disconnect),
	ASKS(INIT_QP_ATTR, attr),  TELLS(NOTIFY, notify),      TELLS(SET_OPTION, option),
	ASKS(JOIN_IP_MCAST, join), ASKS(LEAVE_MCAST, destroy), ASKS(DESTROY_ID, destroy),
};

const char *command_name(int i)
{
	return i < (int)(sizeof(commands) / sizeof(*commands)) ? commands[i].name : NULL;
}

int command_write(int fd, int i, uint32_t id)
{
	const struct command *command = &commands[i];
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct {
		struct rdma_ucm_cmd_hdr header;
		union request request;
	} __attribute__((packed))
	message = { { command->number, sizeof(union request), 1024 }, { .destroy = { 0 } } };
	static char answer[1024];
	uint64_t response = (uintptr_t)answer;

	if (command->asks)
		memcpy(&message.request, &response, sizeof(response));
	if (command->number == RDMA_USER_CM_CMD_BIND_IP)
		memcpy(&message.request.bind.addr, &any, sizeof(any));
	if (command->number == RDMA_USER_CM_CMD_RESOLVE_IP)
		memcpy(&message.request.resolve.dst_addr, &any, sizeof(any));
	if (command->number == RDMA_USER_CM_CMD_JOIN_IP_MCAST)
		memcpy(&message.request.join.addr, &any, sizeof(any));
	if (command->number == RDMA_USER_CM_CMD_CONNECT)
		message.request.connect.conn_param.valid = 1;
	memcpy((char *)&message.request + command->id, &id, sizeof(id));
	return write(fd, &message, sizeof(message)) < 0 ? errno : 0;
}

uint32_t command_new_id(int fd)
{
	struct rdma_ucm_create_id_resp answer = { 0 };
	struct {
		struct rdma_ucm_cmd_hdr header;
		struct rdma_ucm_create_id request;
	} message = { { RDMA_USER_CM_CMD_CREATE_ID, sizeof(message.request), sizeof(answer) },
		      { .response = (uintptr_t)&answer, .ps = RDMA_PS_TCP } };

	return write(fd, &message, sizeof(message)) == sizeof(message) ? answer.id : 0;
}
