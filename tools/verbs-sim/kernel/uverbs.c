/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * /dev/infiniband/uverbsN: opening it, and carrying out what is written to it. See uverbs.h.
 *
 * The library sends each command by ioctl(2) first, and learns that it must write most of them:
 * uverbs_ioctl.c. The descriptor is that of the world's memory, because a library maps the queues
 * that it shares with its driver. The real kernel must do the mapping, because programs such as UCX
 * replace mmap(2) themselves.
 */
#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-sim/kernel/sysfs.h"
#include "verbs-sim/kernel/uverbs.h"

#define MOST_ANSWER 512 /* bytes in an answer */

struct row {
	const char *name;
	uverbs_command *carry_out;
	size_t request, answer; /* sizes in bytes */
	int ways[2];            /* the default error of --fail */
};

/* A command without an answer has `char`, and the library copies nothing. */
#define COMMAND(name, function, request, answer, error) \
	[IB_USER_VERBS_CMD_##name] = { #name, function, sizeof(request), sizeof(answer), { error } }
#define EX(name, function, request, answer, error) \
	[IB_USER_VERBS_EX_CMD_##                   \
		name] = { #name, function, sizeof(request), sizeof(answer), { error } }

static const struct row commands[] = {
	COMMAND(GET_CONTEXT, uverbs_get_context, struct ib_uverbs_get_context,
		struct ib_uverbs_get_context_resp, ENOMEM),
	COMMAND(QUERY_DEVICE, uverbs_query_device, struct ib_uverbs_query_device,
		struct ib_uverbs_query_device_resp, EINVAL),
	COMMAND(QUERY_PORT, uverbs_query_port, struct ib_uverbs_query_port,
		struct ib_uverbs_query_port_resp, EINVAL),
	COMMAND(ALLOC_PD, uverbs_alloc_pd, struct ib_uverbs_alloc_pd,
		struct ib_uverbs_alloc_pd_resp, ENOMEM),
	COMMAND(DEALLOC_PD, uverbs_dealloc_pd, struct ib_uverbs_dealloc_pd, char, EBUSY),
	COMMAND(REG_MR, uverbs_reg_mr, struct ib_uverbs_reg_mr, struct uverbs_mr_answer, ENOMEM),
	COMMAND(DEREG_MR, uverbs_dereg_mr, struct ib_uverbs_dereg_mr, char, EINVAL),
	COMMAND(ALLOC_MW, uverbs_alloc_mw, struct ib_uverbs_alloc_mw,
		struct ib_uverbs_alloc_mw_resp, ENOMEM),
	COMMAND(DEALLOC_MW, uverbs_dealloc_mw, struct ib_uverbs_dealloc_mw, char, EINVAL),
	COMMAND(CREATE_AH, uverbs_create_ah, struct ib_uverbs_create_ah, struct uverbs_ah_answer,
		ENOMEM),
	COMMAND(DESTROY_AH, uverbs_destroy_ah, struct ib_uverbs_destroy_ah, char, EINVAL),
	COMMAND(CREATE_COMP_CHANNEL, uverbs_create_comp_channel,
		struct ib_uverbs_create_comp_channel, struct ib_uverbs_create_comp_channel_resp,
		EMFILE),
	COMMAND(CREATE_CQ, uverbs_create_cq, struct ib_uverbs_create_cq, struct uverbs_cq_answer,
		ENOMEM),
	COMMAND(REQ_NOTIFY_CQ, uverbs_req_notify_cq, struct ib_uverbs_req_notify_cq, char, EINVAL),
	COMMAND(RESIZE_CQ, uverbs_resize_cq, struct ib_uverbs_resize_cq,
		struct uverbs_resize_answer, EINVAL),
	COMMAND(DESTROY_CQ, uverbs_destroy_cq, struct ib_uverbs_destroy_cq,
		struct ib_uverbs_destroy_cq_resp, EBUSY),
	COMMAND(CREATE_QP, uverbs_create_qp, struct ib_uverbs_create_qp, struct uverbs_qp_answer,
		ENOMEM),
	COMMAND(MODIFY_QP, uverbs_modify_qp, struct ib_uverbs_modify_qp, char, EINVAL),
	COMMAND(QUERY_QP, uverbs_query_qp, struct ib_uverbs_query_qp,
		struct ib_uverbs_query_qp_resp, ENOMEM),
	COMMAND(DESTROY_QP, uverbs_destroy_qp, struct ib_uverbs_destroy_qp,
		struct ib_uverbs_destroy_qp_resp, EBUSY),
	COMMAND(POST_SEND, uverbs_post_send, struct ib_uverbs_post_send,
		struct ib_uverbs_post_send_resp, ENOMEM),
	COMMAND(ATTACH_MCAST, uverbs_attach_mcast, struct ib_uverbs_attach_mcast, char, ENOMEM),
	COMMAND(DETACH_MCAST, uverbs_detach_mcast, struct ib_uverbs_detach_mcast, char, EINVAL),
	COMMAND(CREATE_SRQ, uverbs_create_srq, struct ib_uverbs_create_srq,
		struct uverbs_srq_answer, ENOMEM),
	COMMAND(MODIFY_SRQ, uverbs_modify_srq, struct ib_uverbs_modify_srq, char, EINVAL),
	COMMAND(QUERY_SRQ, uverbs_query_srq, struct ib_uverbs_query_srq,
		struct ib_uverbs_query_srq_resp, ENOMEM),
	COMMAND(DESTROY_SRQ, uverbs_destroy_srq, struct ib_uverbs_destroy_srq,
		struct ib_uverbs_destroy_srq_resp, EBUSY),
};

static const struct row extended[] = {
	EX(QUERY_DEVICE, uverbs_query_device_ex, struct ib_uverbs_ex_query_device,
	   struct ib_uverbs_ex_query_device_resp, EINVAL),
	EX(CREATE_CQ, uverbs_create_cq_ex, struct ib_uverbs_ex_create_cq,
	   struct uverbs_cq_ex_answer, ENOMEM),
	EX(CREATE_QP, uverbs_create_qp_ex, struct ib_uverbs_ex_create_qp,
	   struct uverbs_qp_ex_answer, ENOMEM),
};

/* ---- Commands ---- */

static const struct row *find(const struct row *rows, size_t n, uint32_t number)
{
	return number < n && rows[number].carry_out ? &rows[number] : NULL;
}

#define FIND(rows, number) find(rows, sizeof(rows) / sizeof((rows)[0]), number)

/* Each extended command has the name of an older one. */
bool uverbs_has_command(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].name && !strcmp(commands[i].name, name))
			return true;
	}
	return false;
}

/* Copies the answer to the library's buffer of `room` bytes. Returns 0 or an errno value. */
static int carry_out(struct uverbs *uverbs, const struct row *row, const void *in, void *to,
		     size_t room)
{
	_Alignas(uint64_t) char answer[MOST_ANSWER] = { 0 };
	int error = sim_enter(row->name, row->ways);

	if (!error)
		error = row->carry_out(uverbs, in, answer);
	if (!error && to)
		memcpy(to, answer, row->answer < room ? row->answer : room);
	return error;
}

/* A request begins with the address of its answer, if there is one. */
static int write_command(struct uverbs *uverbs, const struct ib_uverbs_cmd_hdr *header,
			 size_t length)
{
	const struct row *row = FIND(commands, header->command);
	const uint64_t *response = (const void *)(header + 1);
	void *to;

	if (!row) {
		sim_report_missing("uverbs command %u", header->command);
		return EOPNOTSUPP;
	}
	if (length < sizeof(*header) + row->request || (!uverbs->context && header->command))
		return EINVAL;
	to = header->out_words ? (void *)(uintptr_t)*response : NULL;
	return carry_out(uverbs, row, header + 1, to, header->out_words * 4u);
}

/* Lengths count words of eight bytes; those of the driver's part stand in a second header. */
static int write_extended(struct uverbs *uverbs, const struct ib_uverbs_cmd_hdr *header,
			  size_t length)
{
	const struct ib_uverbs_ex_cmd_hdr *more = (const void *)(header + 1);
	uint32_t number = header->command & IB_USER_VERBS_CMD_COMMAND_MASK;
	const struct row *row = FIND(extended, number);
	char request[MOST_ANSWER] = { 0 };

	if (!row) {
		sim_report_missing("extended uverbs command %u", number);
		return EOPNOTSUPP;
	}
	if (length < sizeof(*header) + sizeof(*more) || !uverbs->context)
		return EINVAL;
	/* An older library sends a shorter request: the rest is zero. */
	length -= sizeof(*header) + sizeof(*more);
	memcpy(request, more + 1, length < row->request ? length : row->request);
	return carry_out(uverbs, row, request, (void *)(uintptr_t)more->response,
			 (header->out_words + more->provider_out_words) * 8u);
}

/* A library whose ioctl was refused writes the command next, and errno must be as before. */
static __thread int errno_before;
static __thread bool was_refused;

static ssize_t write_any(struct sim_file *file, const void *buf, size_t count)
{
	struct uverbs *uverbs = (struct uverbs *)file;
	const struct ib_uverbs_cmd_hdr *header = buf;
	int error = EINVAL;

	kernel_await_locks(NULL);
	sim_interrupt_spinning();
	if (count >= sizeof(*header) && header->command & IB_USER_VERBS_CMD_FLAG_EXTENDED)
		error = write_extended(uverbs, header, count);
	else if (count >= sizeof(*header))
		error = write_command(uverbs, header, count);
	if (!error && was_refused)
		errno = errno_before;
	was_refused = false;
	return error ? sim_fail(error) : (ssize_t)count;
}

/* ---- The descriptor ---- */

/* The rest of the context ends with its asynchronous channel, or with the program. */
static void close_uverbs(struct sim_file *file)
{
	SIM_STEP("CLOSE_UVERBS");
	sim_system(SYS_close, file->fd);
	free(file);
}

static int ioctl_any(struct sim_file *file, unsigned long request, void *argument)
{
	int before = errno, error = ENOTTY;

	if (request == RDMA_VERBS_IOCTL)
		error = uverbs_ioctl((const struct uverbs *)file, argument);
	was_refused = error == EPROTONOSUPPORT;
	errno_before = before;
	return sim_fail(error);
}

static const struct sim_file_ops ops = { .write = write_any,
					 .ioctl = ioctl_any,
					 .close = close_uverbs };

int uverbs_open(struct sim_device *device)
{
	struct uverbs *uverbs;
	int fd;

	SIM_CALL_OR(-1, "OPEN_UVERBS", ENOMEM);
	uverbs = calloc(1, sizeof(*uverbs));
	if (!uverbs)
		return sim_fail(ENOMEM);
	fd = (int)sim_system(SYS_openat, AT_FDCWD, getenv(SIM_WORLD_VARIABLE), O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		free(uverbs);
		return -1;
	}
	uverbs->device = device;
	uverbs->file.number = sysfs_number_of(device);
	sim_add_file(&uverbs->file, fd, &ops);
	return fd;
}
