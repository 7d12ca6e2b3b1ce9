/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The netlink socket of RDMA (rdma/rdma_netlink.h), by which the libraries find devices and their
 * drivers. Its descriptor belongs to a real socket of another protocol, which carries no messages:
 * they are answered here.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"
#include "verbs-sim/kernel/kernel.h"
#include "verbs-sim/kernel/sysfs.h"

#define MOST_ANSWER 4096 /* bytes: some eight devices need a tenth of it */

struct netlink {
	struct sim_file file;
	size_t length; /* bytes of the answer that were not received yet */
	_Alignas(NLMSG_ALIGNTO) char answer[MOST_ANSWER];
};

/* ---- Messages ---- */

static struct nlmsghdr *begin(struct netlink *netlink, const struct nlmsghdr *request,
			      uint16_t type, uint16_t flags)
{
	struct nlmsghdr *header = (struct nlmsghdr *)(netlink->answer + netlink->length);

	*header = (struct nlmsghdr){ sizeof(*header), type, flags, request->nlmsg_seq,
				     request->nlmsg_pid };
	return header;
}

static void put(struct nlmsghdr *header, uint16_t type, const void *data, size_t size)
{
	struct nlattr *attribute = (struct nlattr *)((char *)header + header->nlmsg_len);

	memset(attribute, 0, NLA_HDRLEN + NLA_ALIGN(size));
	attribute->nla_type = type;
	attribute->nla_len = (uint16_t)(NLA_HDRLEN + size);
	memcpy((char *)attribute + NLA_HDRLEN, data, size);
	header->nlmsg_len += (uint32_t)(NLA_HDRLEN + NLA_ALIGN(size));
}

static void put_u8(struct nlmsghdr *header, uint16_t type, uint8_t value)
{
	put(header, type, &value, sizeof(value));
}

static void put_u32(struct nlmsghdr *header, uint16_t type, uint32_t value)
{
	put(header, type, &value, sizeof(value));
}

static void put_u64(struct nlmsghdr *header, uint16_t type, uint64_t value)
{
	put(header, type, &value, sizeof(value));
}

static void end(struct netlink *netlink, const struct nlmsghdr *header)
{
	netlink->length += NLMSG_ALIGN(header->nlmsg_len);
}

/* Returns the payload of an attribute of a request; NULL: it has none of this type. */
static const void *find(const struct nlmsghdr *request, uint16_t type)
{
	const char *at = (const char *)request + NLMSG_HDRLEN;
	const char *last = (const char *)request + request->nlmsg_len;
	const struct nlattr *attribute;

	for (; at + NLA_HDRLEN <= last; at += NLA_ALIGN(attribute->nla_len)) {
		attribute = (const void *)at;
		if (attribute->nla_len < NLA_HDRLEN)
			return NULL;
		if (attribute->nla_type == type)
			return at + NLA_HDRLEN;
	}
	return NULL;
}

/* ---- Answers ---- */

static void tell_device(struct netlink *netlink, const struct nlmsghdr *request,
			const struct sim_device *device)
{
	struct nlmsghdr *header = begin(netlink, request, request->nlmsg_type, NLM_F_MULTI);

	put_u32(header, RDMA_NLDEV_ATTR_DEV_INDEX, device->number);
	put(header, RDMA_NLDEV_ATTR_DEV_NAME, device->name, strlen(device->name) + 1);
	put_u32(header, RDMA_NLDEV_ATTR_PORT_INDEX, device->n_ports);
	put_u64(header, RDMA_NLDEV_ATTR_NODE_GUID, be64toh(sim_guid_of(device)));
	put_u8(header, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, device->traits.iwarp ? 4 : 1);
	end(netlink, header);
}

static void list_devices(struct netlink *netlink, const struct nlmsghdr *request)
{
	struct nlmsghdr *header;
	uint32_t i;

	for (i = 0; i < sim_world->devices->n; i++) {
		if (sysfs_sees(&sim_world->devices->all[i]))
			tell_device(netlink, request, &sim_world->devices->all[i]);
	}
	header = begin(netlink, request, NLMSG_DONE, NLM_F_MULTI);
	memset(header + 1, 0, sizeof(int)); /* the kernel's return value */
	header->nlmsg_len += sizeof(int);
	end(netlink, header);
}

/* Answers a request with an errno value. */
static void refuse(struct netlink *netlink, const struct nlmsghdr *request, int error)
{
	struct nlmsghdr *header = begin(netlink, request, NLMSG_ERROR, 0);
	struct nlmsgerr said = { .error = -error, .msg = *request };

	memcpy(header + 1, &said, sizeof(said));
	header->nlmsg_len += sizeof(said);
	end(netlink, header);
}

/*
 * The number of the file stays a secret: if a library cannot open a file whose number it knows, it looks
 * for it in /dev/char, which differs from machine to machine, and the error is lost.
 */
static void tell_cdev(struct netlink *netlink, const struct nlmsghdr *request,
		      const struct sim_device *device)
{
	struct nlmsghdr *header = begin(netlink, request, request->nlmsg_type, 0);
	char name[] = "uverbs0";
	bool iwarp = device && device->traits.iwarp;

	name[6] = (char)('0' + (device ? device->number : 0));
	put_u64(header, RDMA_NLDEV_ATTR_CHARDEV, 0);
	put_u64(header, RDMA_NLDEV_ATTR_CHARDEV_ABI, device ? device->traits.abi : 4);
	put(header, RDMA_NLDEV_ATTR_CHARDEV_NAME, device ? name : "rdma_cm", sizeof(name));
	if (device)
		put_u32(header, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID,
			iwarp ? RDMA_DRIVER_SIW : RDMA_DRIVER_RXE);
	end(netlink, header);
}

/* The files of a device, or of the connection manager. Others, such as umad, do not exist. */
static void find_cdev(struct netlink *netlink, const struct nlmsghdr *request)
{
	const char *type = find(request, RDMA_NLDEV_ATTR_CHARDEV_TYPE);
	const uint32_t *index = find(request, RDMA_NLDEV_ATTR_DEV_INDEX);

	if (type && !strcmp(type, "rdma_cm"))
		tell_cdev(netlink, request, NULL);
	else if (type && !strcmp(type, "uverbs") && index && *index < sim_world->devices->n)
		tell_cdev(netlink, request, &sim_world->devices->all[*index]);
	else
		refuse(netlink, request, type ? ENODEV : EINVAL);
}

static void tell_system(struct netlink *netlink, const struct nlmsghdr *request)
{
	struct nlmsghdr *header = begin(netlink, request, request->nlmsg_type, 0);

	put_u8(header, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1);
	end(netlink, header);
}

/* ---- The socket ---- */

static ssize_t send_request(struct sim_file *file, const struct msghdr *message)
{
	struct netlink *netlink = (struct netlink *)file;
	const struct nlmsghdr *request = message->msg_iov[0].iov_base;

	netlink->length = 0;
	switch (RDMA_NL_GET_OP(request->nlmsg_type)) {
	case RDMA_NLDEV_CMD_GET:
		list_devices(netlink, request);
		break;
	case RDMA_NLDEV_CMD_GET_CHARDEV:
		find_cdev(netlink, request);
		break;
	case RDMA_NLDEV_CMD_SYS_GET:
		tell_system(netlink, request);
		break;
	default:
		refuse(netlink, request, EOPNOTSUPP);
		break;
	}
	return request->nlmsg_len;
}

static ssize_t receive_answer(struct sim_file *file, struct msghdr *message)
{
	struct netlink *netlink = (struct netlink *)file;
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	size_t length = netlink->length;

	if (length > message->msg_iov[0].iov_len)
		length = message->msg_iov[0].iov_len;
	memcpy(message->msg_iov[0].iov_base, netlink->answer, length);
	if (message->msg_name)
		memcpy(message->msg_name, &kernel, sizeof(kernel));
	message->msg_namelen = sizeof(kernel);
	message->msg_controllen = 0;
	message->msg_flags = 0;
	netlink->length = 0;
	return (ssize_t)length;
}

static void close_socket(struct sim_file *file)
{
	sim_system(SYS_close, file->fd);
	free(file);
}

static const struct sim_file_ops ops = {
	.sendmsg = send_request,
	.recvmsg = receive_answer,
	.close = close_socket,
};

static int open_socket(int type, int protocol)
{
	struct netlink *netlink;
	int fd;

	if (!sim_world || protocol != NETLINK_RDMA)
		return -2;
	fd = (int)sim_system(SYS_socket, AF_NETLINK, type, NETLINK_ROUTE);
	if (fd < 0)
		return -1;
	netlink = calloc(1, sizeof(*netlink));
	if (!netlink) {
		sim_system(SYS_close, fd);
		errno = ENOMEM;
		return -1;
	}
	sim_add_file(&netlink->file, fd, &ops);
	return fd;
}

__attribute__((constructor)) static void hook(void)
{
	sim_hooks.open_netlink = open_socket;
}
