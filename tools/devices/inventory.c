/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices: asks libibverbs which devices there are, and the kernel which network device is under a
 * port, in a netlink request of the RDMA family. See devices.h.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rdma/rdma_netlink.h>

#include "devices/devices.h"
#include "program/report.h"

/* ---- The network device ---- */

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

/* Reads a batch of messages. Returns 0: more come; ENODATA: it was the last; or an errno value. */
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

/*
 * Asks the kernel, as rdma(8) does, for the network device under a port, and writes its name,
 * or "" if it has none here. Returns 0 or an errno value.
 */
static int find_netdev(struct ibv_device *device, uint8_t port, char netdev[IF_NAMESIZE])
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

/* ---- Devices ---- */

#define MOST_INLINE 65536

/* Returns true if the device creates a QP that can send this many bytes inline. */
static bool takes_inline(struct ibv_pd *pd, struct ibv_cq *cq, uint32_t bytes)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1,
			 .max_recv_wr = 1,
			 .max_send_sge = 1,
			 .max_recv_sge = 1,
			 .max_inline_data = bytes },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	if (!qp)
		return false;
	ibv_destroy_qp(qp);
	return attr.cap.max_inline_data >= bytes;
}

/* No device says how many bytes may be inline: the program tries, halving the range each time. */
static uint32_t find_max_inline(struct ibv_context *verbs)
{
	uint32_t works = 0, fails = MOST_INLINE, half;
	struct ibv_pd *pd = ibv_alloc_pd(verbs);
	struct ibv_cq *cq = pd ? ibv_create_cq(verbs, 2, NULL, NULL, 0) : NULL;

	while (cq && fails - works > 1) {
		half = (works + fails) / 2;
		if (takes_inline(pd, cq, half))
			works = half;
		else
			fails = half;
	}
	if (cq)
		ibv_destroy_cq(cq);
	if (pd)
		ibv_dealloc_pd(pd);
	return works;
}

/* libibverbs cannot ask for more: the length of the answer has 16 bits. */
#define MOST_GIDS (UINT16_MAX / sizeof(struct ibv_gid_entry))

/* The kernel gives the GIDs of all ports in one list, without the places that are empty. */
static int ask_gids(struct devices_device *device, struct devices_port *port)
{
	size_t most = (size_t)port->attr.gid_tbl_len * device->n_ports, i;
	struct ibv_gid_entry *all = calloc(most + 1, sizeof(*all));
	ssize_t n;

	most = most < MOST_GIDS ? most : MOST_GIDS;
	port->gids = all;
	if (!all)
		return our_report_error("calloc", ENOMEM, NULL);
	n = ibv_query_gid_table(device->verbs, all, most, 0);
	if (n == -EOPNOTSUPP)
		return 0;
	if (n < 0)
		return our_report_error("ibv_query_gid_table", (int)-n, NULL);
	for (i = 0; i < (size_t)n; i++) {
		if (all[i].port_num == port->number)
			all[port->n_gids++] = all[i];
	}
	return 0;
}

static int ask_port(struct devices_device *device, struct devices_port *port)
{
	int ret = ibv_query_port(device->verbs, port->number, &port->attr);

	if (ret)
		return our_report_error("ibv_query_port", ret, NULL);
	ret = find_netdev(device->verbs->device, port->number, port->netdev);
	if (ret)
		our_report_error("netlink", ret, "the network device under %s is not known",
				 device->name);
	return ask_gids(device, port);
}

static int ask_device(struct devices_device *device)
{
	size_t i;
	int ret = ibv_query_device_ex(device->verbs, NULL, &device->attr);

	if (ret)
		return our_report_error("ibv_query_device_ex", ret, NULL);
	device->max_inline = find_max_inline(device->verbs);
	device->ports = calloc(device->attr.orig_attr.phys_port_cnt, sizeof(*device->ports));
	if (!device->ports)
		return our_report_error("calloc", ENOMEM, NULL);
	device->n_ports = device->attr.orig_attr.phys_port_cnt;
	for (i = 0; i < device->n_ports && !ret; i++) {
		device->ports[i].number = (uint8_t)(i + 1);
		ret = ask_port(device, &device->ports[i]);
	}
	return ret;
}

static int open_device(struct devices *devices, struct ibv_device *found)
{
	struct devices_device *device = &devices->all[devices->n];

	device->name = ibv_get_device_name(found);
	device->verbs = ibv_open_device(found);
	if (!device->verbs) {
		devices->n_unopened++;
		return our_report_error("ibv_open_device", errno,
					"%s: may this user open /dev/infiniband/%s?", device->name,
					found->dev_name);
	}
	devices->n++;
	return ask_device(device);
}

int devices_open(struct devices *devices, const char *only)
{
	int i, n, ret = 0, error;

	memset(devices, 0, sizeof(*devices));
	devices->list = ibv_get_device_list(&n);
	if (!devices->list)
		return errno == ENOSYS ? ENODEV
				       : our_report_error("ibv_get_device_list", errno, NULL);
	devices->all = calloc((size_t)n + 1, sizeof(*devices->all));
	if (!devices->all)
		return our_report_error("calloc", ENOMEM, NULL);
	for (i = 0; i < n; i++) {
		if (only && strcmp(only, ibv_get_device_name(devices->list[i])))
			continue;
		error = open_device(devices, devices->list[i]);
		ret = ret ? ret : error;
	}
	return ret || devices->n ? ret : ENODEV;
}

void devices_close(struct devices *devices)
{
	struct devices_device *device;
	size_t i, port;

	for (i = 0; i < devices->n; i++) {
		device = &devices->all[i];
		for (port = 0; port < device->n_ports; port++)
			free(device->ports[port].gids);
		free(device->ports);
		if (ibv_close_device(device->verbs))
			our_report_error("ibv_close_device", errno, NULL);
	}
	free(devices->all);
	if (devices->list)
		ibv_free_device_list(devices->list);
}
