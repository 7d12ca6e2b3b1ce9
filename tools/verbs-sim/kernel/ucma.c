/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * /dev/infiniband/rdma_cm: opening it, and carrying out what is written to it. See ucma.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/kernel/sysfs.h"
#include "verbs-sim/kernel/ucma.h"

static const struct row {
	const char *name;
	ucma_command *carry_out;
	size_t request, answer; /* sizes in bytes */
	int ways[2];            /* the default error of --fail */
	size_t response;        /* offset in the request of the answer's address */
} commands[] = {
/* ASKS is for commands with an answer. */
#define ASKS(name, function, request, answer, error)          \
	[RDMA_USER_CM_CMD_##name] = { #name,                  \
				      function,               \
				      sizeof(struct request), \
				      sizeof(struct answer),  \
				      { error },              \
				      offsetof(struct request, response) }
#define TELLS(name, function, request, error) \
	[RDMA_USER_CM_CMD_##name] = { #name, function, sizeof(struct request), 0, { error }, 0 }
	ASKS(CREATE_ID, ucma_create_id, rdma_ucm_create_id, rdma_ucm_create_id_resp, ENODEV),
	ASKS(DESTROY_ID, ucma_destroy_id, rdma_ucm_destroy_id, rdma_ucm_destroy_id_resp, EINVAL),
	ASKS(MIGRATE_ID, ucma_migrate_id, rdma_ucm_migrate_id, rdma_ucm_migrate_resp, ENOMEM),
	TELLS(BIND_IP, ucma_bind_ip, rdma_ucm_bind_ip, EADDRINUSE),
	TELLS(RESOLVE_IP, ucma_resolve_ip, rdma_ucm_resolve_ip, EADDRNOTAVAIL),
	TELLS(RESOLVE_ROUTE, ucma_resolve_route, rdma_ucm_resolve_route, EHOSTUNREACH),
	ASKS(QUERY_ROUTE, ucma_query_route, rdma_ucm_query, rdma_ucm_query_route_resp, EINVAL),
	TELLS(SET_OPTION, ucma_set_option, rdma_ucm_set_option, ENOSYS),
	TELLS(LISTEN, ucma_listen, rdma_ucm_listen, EADDRINUSE),
	TELLS(CONNECT, ucma_connect, rdma_ucm_connect, ENOMEM),
	TELLS(ACCEPT, ucma_accept, rdma_ucm_accept, ENOMEM),
	TELLS(REJECT, ucma_reject, rdma_ucm_reject, EINVAL),
	TELLS(DISCONNECT, ucma_disconnect, rdma_ucm_disconnect, EINVAL),
	TELLS(NOTIFY, ucma_notify, rdma_ucm_notify, EINVAL),
	ASKS(INIT_QP_ATTR, ucma_init_qp_attr, rdma_ucm_init_qp_attr, ib_uverbs_qp_attr, EINVAL),
	ASKS(JOIN_IP_MCAST, ucma_join_ip_mcast, rdma_ucm_join_ip_mcast, rdma_ucm_create_id_resp,
	     EINVAL),
	ASKS(JOIN_MCAST, ucma_join_mcast, rdma_ucm_join_mcast, rdma_ucm_create_id_resp, EINVAL),
	ASKS(LEAVE_MCAST, ucma_leave_mcast, rdma_ucm_destroy_id, rdma_ucm_destroy_id_resp,
	     EADDRNOTAVAIL),
	ASKS(GET_EVENT, ucma_get_event, rdma_ucm_get_event, rdma_ucm_event_resp, EIO),
#undef ASKS
#undef TELLS
};

#define COMMANDS    (sizeof(commands) / sizeof(commands[0]))
#define MOST_LENGTH 1024 /* bytes in a request, or an answer */

bool ucma_has_command(const char *name)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++) {
		if (commands[i].name && !strcmp(commands[i].name, name))
			return true;
	}
	return false;
}

/* An older library writes a shorter request: the rest is zero. */
static int carry_out(struct ucma *ucma, const struct rdma_ucm_cmd_hdr *header, size_t length)
{
	const struct row *row = header->cmd < COMMANDS ? &commands[header->cmd] : NULL;
	_Alignas(uint64_t) char request[MOST_LENGTH] = { 0 }, answer[MOST_LENGTH] = { 0 };
	uint64_t to = 0;
	int error;

	if (!row || !row->carry_out) {
		sim_report_missing("rdma_cm command %u", header->cmd);
		return EOPNOTSUPP;
	}
	memcpy(request, header + 1, length < row->request ? length : row->request);
	error = ucma->is_probe ? 0 : sim_enter(row->name, row->ways);
	if (!error)
		error = row->carry_out(ucma, request, answer);
	if (error || !row->answer)
		return error;
	memcpy(&to, request + row->response, sizeof(to));
	memcpy((void *)(uintptr_t)to, answer,
	       row->answer < header->out ? row->answer : header->out);
	return 0;
}

static ssize_t write_command(struct sim_file *file, const void *buf, size_t count)
{
	int error = EINVAL;

	if (count >= sizeof(struct rdma_ucm_cmd_hdr))
		error = carry_out((struct ucma *)file, buf,
				  count - sizeof(struct rdma_ucm_cmd_hdr));
	return error ? sim_fail(error) : (ssize_t)count;
}

/* ---- The descriptor ---- */

static void close_ucma(struct sim_file *file)
{
	struct sim_channel *channel = ((struct ucma *)file)->channel;

	if (!((struct ucma *)file)->is_probe)
		SIM_STEP("CLOSE_UCMA");
	sim_destroy_endpoints_of(channel);
	sim_close_channel(channel);
	free(file);
}

static const struct sim_file_ops ops = { .write = write_command, .close = close_ucma };

/*
 * Before anything else librdmacm tries once, on its own channel, whether the kernel knows AF_IB.
 * This is not a call of the program.
 */
static bool is_probe(void)
{
	static bool seen;
	bool first = !seen;

	seen = true;
	return first;
}

int ucma_open(void)
{
	bool probes = is_probe();
	struct ucma *ucma;

	if (!probes)
		SIM_CALL_OR(-1, "OPEN_UCMA", ENODEV);
	ucma = calloc(1, sizeof(*ucma));
	if (!ucma)
		return sim_fail(ENOMEM);
	ucma->channel = sim_open_channel(SIM_EVENT_CHANNEL, sizeof(*ucma->channel), NULL,
					 kernel_is_for_librdmacm() &&
						 strcmp(sim_me->call, "rdma_create_event_channel"));
	if (!ucma->channel) {
		free(ucma);
		return -1;
	}
	ucma->is_probe = probes;
	ucma->file.number = sysfs_number_of(NULL);
	sim_add_file(&ucma->file, ucma->channel->fd, &ops);
	return ucma->channel->fd;
}
