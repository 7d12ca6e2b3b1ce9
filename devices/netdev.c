/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices: which network device is under a port. libibverbs does not say; the kernel does, in
 * answer to a netlink request of the RDMA family. See devices.h.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "devices/devices.h"

struct request {
	struct nlmsghdr header;
	struct nlattr attr;
	uint32_t device;
};

static int send_request(int fd, uint32_t device)
{
	struct request request = {
		.header = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_PORT_GET),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_DUMP,
		},
		.attr = {
			.nla_len = NLA_HDRLEN + sizeof(device),
			.nla_type = RDMA_NLDEV_ATTR_DEV_INDEX,
		},
		.device = device,
	};

	return send(fd, &request, sizeof(request), 0) < 0 ? errno : 0;
}

/* Reads the attributes of one port; if it is the one, keeps the name of its network device. */
static void read_port(const char *data, size_t length, uint32_t port, char *netdev)
{
	const char *name = "";
	struct nlattr attr;
	uint32_t number = 0;
	size_t offset;

	for (offset = 0; offset + sizeof(attr) <= length; offset += NLA_ALIGN(attr.nla_len)) {
		memcpy(&attr, data + offset, sizeof(attr));
		if (attr.nla_len < NLA_HDRLEN || offset + attr.nla_len > length)
			return;
		if (attr.nla_type == RDMA_NLDEV_ATTR_PORT_INDEX &&
		    attr.nla_len >= NLA_HDRLEN + sizeof(number))
			memcpy(&number, data + offset + NLA_HDRLEN, sizeof(number));
		if (attr.nla_type == RDMA_NLDEV_ATTR_NDEV_NAME)
			name = data + offset + NLA_HDRLEN;
	}
	if (number == port)
		snprintf(netdev, IF_NAMESIZE, "%s", name);
}

/* One batch of messages. Returns 0: more come; ENODATA: that was the last; or an errno value. */
static int read_answer(const char *data, size_t length, uint32_t port, char *netdev)
{
	struct nlmsghdr header;
	size_t offset;
	int error;

	for (offset = 0; offset + sizeof(header) <= length;
	     offset += NLMSG_ALIGN(header.nlmsg_len)) {
		memcpy(&header, data + offset, sizeof(header));
		if (header.nlmsg_len < sizeof(header) || offset + header.nlmsg_len > length)
			return EPROTO;
		if (header.nlmsg_type == NLMSG_DONE)
			return ENODATA;
		if (header.nlmsg_type == NLMSG_ERROR) {
			memcpy(&error, data + offset + NLMSG_HDRLEN, sizeof(error));
			return error ? -error : ENODATA;
		}
		read_port(data + offset + NLMSG_HDRLEN, header.nlmsg_len - NLMSG_HDRLEN, port,
			  netdev);
	}
	return 0;
}

int devices_find_netdev(struct ibv_device *device, uint8_t port, char netdev[IF_NAMESIZE])
{
	int index = ibv_get_device_index(device), fd, ret;
	char answer[16384];
	ssize_t length;

	netdev[0] = '\0';
	if (index < 0)
		return EOPNOTSUPP;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	if (fd < 0)
		return errno;
	ret = send_request(fd, (uint32_t)index);
	while (!ret) {
		length = recv(fd, answer, sizeof(answer), 0);
		ret = length < 0 ? errno : read_answer(answer, (size_t)length, port, netdev);
		ret = ret == EINTR ? 0 : ret;
	}
	close(fd);
	return ret == ENODATA ? 0 : ret;
}
