/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices --check: from the address to the port of a device: the network device that has it, its link, and
 * the GID. See check.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/roles.h"
#include "devices/check.h"

static socklen_t length_of(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in);
}

static bool is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in6 *in6 = (const void *)address;
	const struct sockaddr_in *in = (const void *)address;

	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	return ntohl(in->sin_addr.s_addr) >> 24 == 127;
}

/* Returns the bytes of the address alone. */
static const void *bytes_of(const struct sockaddr *address, size_t *length)
{
	const struct sockaddr_in6 *in6 = (const void *)address;
	const struct sockaddr_in *in = (const void *)address;

	*length = address->sa_family == AF_INET6 ? sizeof(in6->sin6_addr) : sizeof(in->sin_addr);
	return address->sa_family == AF_INET6 ? (const void *)&in6->sin6_addr
					      : (const void *)&in->sin_addr;
}

static bool is_same(const struct sockaddr *one, const struct sockaddr *other)
{
	size_t length;
	const void *bytes = bytes_of(one, &length);

	return one->sa_family == other->sa_family &&
	       !memcmp(bytes, bytes_of(other, &length), length);
}

static const char *text_of(const struct sockaddr *address, char text[INET6_ADDRSTRLEN])
{
	size_t length;

	inet_ntop(address->sa_family, bytes_of(address, &length), text, INET6_ADDRSTRLEN);
	return text;
}

/* Finds the network device that has an address of this machine; "": none has. */
static void find_netdev(const struct sockaddr *address, char netdev[IF_NAMESIZE])
{
	struct ifaddrs *all, *one;

	netdev[0] = '\0';
	if (getifaddrs(&all))
		return;
	for (one = all; one && !*netdev; one = one->ifa_next) {
		if (one->ifa_addr && is_same(address, one->ifa_addr))
			snprintf(netdev, IF_NAMESIZE, "%s", one->ifa_name);
	}
	freeifaddrs(all);
}

/* Finds the source address of packets to the target by a datagram socket, which sends nothing. */
static int find_source(struct check *check)
{
	socklen_t length = sizeof(check->source);
	int fd = socket(check->target->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret = 0;

	if (fd < 0)
		return errno;
	if (connect(fd, check->target, length_of(check->target)) ||
	    getsockname(fd, (struct sockaddr *)&check->source, &length))
		ret = errno;
	close(fd);
	return ret;
}

enum check_verdict check_address(struct check *check)
{
	char text[INET6_ADDRSTRLEN], source[INET6_ADDRSTRLEN];
	int error;

	text_of(check->target, text);
	if (our_is_any_address(check->target))
		return check_fail(check,
				  "name one address: `ip -brief address` lists this machine's",
				  "%s stands for all addresses of a machine", text);
	if (is_loopback(check->target))
		return check_fail(
			check,
			"use the address of a network device that carries an RDMA device: "
			"`devices` lists them",
			"%s is the loopback device's, which carries no RDMA device", text);
	check->local = our_is_local_address(check->target);
	error = find_source(check);
	if (error)
		return check_fail(
			check,
			"give this machine an address in its network (`ip address add`), or a "
			"route to it (`ip route`)",
			"no way from here to %s: %s", text, strerror(error));
	if (check->local)
		memcpy(&check->source, check->target, length_of(check->target));
	find_netdev((const struct sockaddr *)&check->source, check->netdev);
	if (check->local)
		return check_say(check, CHECK_OK, "%s is this machine's, on %s", text,
				 *check->netdev ? check->netdev : "a device that has no name here");
	return check_say(check, CHECK_OK,
			 "%s is another machine's; the way there is by %s, from %s", text,
			 check->netdev, text_of((const struct sockaddr *)&check->source, source));
}

/* Sets the port that is on the network device. */
static void find_port(struct check *check)
{
	const struct devices *devices = &check->devices;
	size_t i, port;

	for (i = 0; i < devices->n && !check->device; i++) {
		for (port = 0; port < devices->all[i].n_ports; port++) {
			if (strcmp(devices->all[i].ports[port].netdev, check->netdev))
				continue;
			check->device = &devices->all[i];
			check->device_port = &devices->all[i].ports[port];
		}
	}
}

/* The text of a link-local address alone names no link. */
static bool is_link_local(const struct sockaddr *address)
{
	const struct sockaddr_in6 *in6 = (const void *)address;

	return address->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr);
}

static void find_own_address(struct check *check, const struct ifaddrs *all, int family)
{
	const struct ifaddrs *one;

	for (one = all; one && !check->target; one = one->ifa_next) {
		if (!one->ifa_addr || one->ifa_addr->sa_family != family ||
		    is_link_local(one->ifa_addr))
			continue;
		snprintf(check->netdev, IF_NAMESIZE, "%s", one->ifa_name);
		find_port(check);
		if (check->device) {
			memcpy(&check->own, one->ifa_addr, length_of(one->ifa_addr));
			/* The port is at the same place in both families. */
			((struct sockaddr_in *)&check->own)->sin_port =
				htons((uint16_t)strtoul(check->port, NULL, 10));
			check->target = (const struct sockaddr *)&check->own;
			check->address = text_of(check->target, check->own_text);
		}
		check->device = NULL;
		check->netdev[0] = '\0';
	}
}

void check_own_address(struct check *check)
{
	struct ifaddrs *all;

	if (getifaddrs(&all))
		return;
	find_own_address(check, all, AF_INET);
	find_own_address(check, all, AF_INET6);
	freeifaddrs(all);
}

/* Returns a port without a network device, or without one in this network namespace. */
static const char *lonely_device(const struct devices *devices)
{
	size_t i, port;

	for (i = 0; i < devices->n; i++) {
		for (port = 0; port < devices->all[i].n_ports; port++) {
			if (!*devices->all[i].ports[port].netdev)
				return devices->all[i].name;
		}
	}
	return NULL;
}

enum check_verdict check_netdev(struct check *check)
{
	const char *lonely = lonely_device(&check->devices);
	char remedy[CHECK_TEXT];

	if (!*check->netdev)
		return check_say(check, CHECK_SKIPPED, "it is not known which one it would be");
	find_port(check);
	if (check->device)
		return check_say(check, CHECK_OK, "%s carries port %u of %s", check->netdev,
				 check->device_port->number, check->device->name);
	if (!check->devices.n)
		return check_say(check, CHECK_SKIPPED,
				 "there is no RDMA device that it could carry");
	snprintf(
		remedy, sizeof(remedy),
		"use an address of a network device that carries one (`devices` lists them), or put "
		"one on %s: `rdma link add rxe1 type rxe netdev %s`",
		check->netdev, check->netdev);
	return check_fail(check, remedy, "%s carries no RDMA device%s%s%s", check->netdev,
			  lonely ? "; that of " : "", lonely ? lonely : "",
			  lonely ? " is not in this network namespace, or it has none" : "");
}

enum check_verdict check_link(struct check *check)
{
	struct ifreq request = { 0 };
	char remedy[CHECK_TEXT];
	int fd, ret;

	if (!*check->netdev)
		return check_say(check, CHECK_SKIPPED, "of which network device is not known");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", check->netdev);
	ret = fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) ? errno : 0;
	if (fd >= 0)
		close(fd);
	if (ret)
		return check_say(check, CHECK_UNKNOWN, "%s: %s", check->netdev, strerror(ret));
	snprintf(remedy, sizeof(remedy), "`ip link set %s up`, as root", check->netdev);
	if (!(request.ifr_flags & IFF_UP))
		return check_fail(check, remedy, "%s is down", check->netdev);
	if (!(request.ifr_flags & IFF_RUNNING))
		return check_fail(check, "look at cable and switch: `ethtool` says what it sees",
				  "%s is up, but has no carrier", check->netdev);
	return check_say(check, CHECK_OK, "%s is up", check->netdev);
}

/* Returns how often the port's link, or the link of its network device, has gone down. */
static unsigned long times_down(const struct check *check)
{
	const char *device = check->device->name;
	unsigned int port = check->device_port->number;
	unsigned long times = 0;
	char paths[3][96];
	FILE *file = NULL;
	size_t i;

	snprintf(paths[0], sizeof(paths[0]),
		 "/sys/class/infiniband/%s/ports/%u/counters/link_downed", device, port);
	snprintf(paths[1], sizeof(paths[1]),
		 "/sys/class/infiniband/%s/ports/%u/hw_counters/link_downed", device, port);
	snprintf(paths[2], sizeof(paths[2]), "/sys/class/net/%s/carrier_down_count", check->netdev);
	for (i = 0; i < 3 && !file; i++)
		file = fopen(paths[i], "re");
	if (!file)
		return 0;
	if (fscanf(file, "%lu", &times) != 1)
		times = 0;
	fclose(file);
	return times;
}

enum check_verdict check_port_state(struct check *check)
{
	const struct ibv_port_attr *attr;
	unsigned long times;

	if (!check->device)
		return check_say(check, CHECK_SKIPPED, "there is none");
	attr = &check->device_port->attr;
	times = times_down(check);
	if (attr->state == IBV_PORT_ACTIVE && times)
		return check_say(
			check, CHECK_OK,
			"port %u of %s is active; its link has gone down %lu time%s so far",
			check->device_port->number, check->device->name, times,
			times == 1 ? "" : "s");
	if (attr->state == IBV_PORT_ACTIVE)
		return check_say(check, CHECK_OK, "port %u of %s is active",
				 check->device_port->number, check->device->name);
	return check_fail(
		check,
		attr->link_layer == IBV_LINK_LAYER_INFINIBAND
			? "look at the cable (`ibstat`), and run a subnet manager (opensm) on "
			  "one machine of the network"
			: "see whether its network device is up: `ip link`",
		"port %u of %s: %s", check->device_port->number, check->device->name,
		ibv_port_state_str(attr->state));
}

/* Returns the GID of the newest type that serves the address. */
static const struct ibv_gid_entry *find_gid(const struct check *check, const char *address)
{
	const struct ibv_gid_entry *found = NULL, *gid;
	char text[DEVICES_TEXT];
	size_t i;

	for (i = 0; i < check->device_port->n_gids; i++) {
		gid = &check->device_port->gids[i];
		devices_gid_address(check->device, check->device_port, &gid->gid, text);
		if (!strcmp(text, address) && (!found || found->gid_type < gid->gid_type))
			found = gid;
	}
	return found;
}

enum check_verdict check_gid(struct check *check)
{
	char text[INET6_ADDRSTRLEN], netdev[IF_NAMESIZE];
	const struct ibv_gid_entry *gid;

	if (!check->device)
		return check_say(check, CHECK_SKIPPED, "there is no device that would have one");
	text_of((const struct sockaddr *)&check->source, text);
	if (check->device->verbs->device->transport_type == IBV_TRANSPORT_IWARP)
		return check_say(check, CHECK_OK, "iWARP needs none: it has IP addresses");
	if (strcmp(devices_transport(check->device, check->device_port), "RoCE"))
		return check_say(check, CHECK_OK,
				 "on InfiniBand the GID is the port's, whatever its IP address");
	gid = find_gid(check, text);
	if (!gid)
		return check_fail(
			check,
			"take the address away and give it back (`ip address del`, `add`): the "
			"kernel makes a GID of each address when it comes",
			"no GID of %s serves %s", check->device->name, text);
	if (gid->gid_type != IBV_GID_TYPE_ROCE_V2)
		return check_fail(
			check,
			"both sides need the same type: choose it with `cma_roce_mode`, or in "
			"/sys/kernel/config/rdma_cm/DEVICE/ports/PORT/default_roce_mode",
			"the GID of %s, index %u, is of RoCE v1 only, which no router passes", text,
			gid->gid_index);
	return check_say(check, CHECK_OK, "%s is GID %u, RoCE v2, on %s", text, gid->gid_index,
			 if_indextoname(gid->ndev_ifindex, netdev) ? netdev : check->netdev);
}

/* Returns true if two addresses of this machine are in one network, by the mask of the first. */
static bool share_network(const struct ifaddrs *one, const struct ifaddrs *other)
{
	const uint8_t *a, *b, *mask;
	size_t i, length;

	if (!one->ifa_netmask || !other->ifa_addr ||
	    other->ifa_addr->sa_family != one->ifa_addr->sa_family)
		return false;
	a = bytes_of(one->ifa_addr, &length);
	b = bytes_of(other->ifa_addr, &length);
	mask = bytes_of(one->ifa_netmask, &length);
	for (i = 0; i < length; i++) {
		if ((a[i] ^ b[i]) & mask[i])
			return false;
	}
	return length == 4 || a[0] != 0xfe; /* each link has the network fe80:: */
}

enum check_verdict check_subnet(struct check *check)
{
	const struct sockaddr *source = (const struct sockaddr *)&check->source;
	const struct ifaddrs *one, *other;
	char text[INET6_ADDRSTRLEN];
	struct ifaddrs *all;
	enum check_verdict verdict;

	if (!*check->netdev || getifaddrs(&all))
		return check_say(check, CHECK_SKIPPED, "it is not known in which one it is");
	text_of(source, text);
	verdict = check_say(check, CHECK_OK, "no other network device here is in the network of %s",
			    text);
	for (one = all; one && !(one->ifa_addr && is_same(source, one->ifa_addr));)
		one = one->ifa_next;
	for (other = all; one && other; other = other->ifa_next) {
		if (strcmp(one->ifa_name, other->ifa_name) && share_network(one, other))
			verdict = check_say(
				check, CHECK_UNKNOWN,
				"%s is in the network of %s, too: packets may take the wrong one, and "
				"ping does not notice (docs/your-machines.md)",
				other->ifa_name, text);
	}
	freeifaddrs(all);
	return verdict;
}
