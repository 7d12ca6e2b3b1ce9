/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices --check: the answers of the connection manager, which decide; and checks that this side
 * cannot make. See check.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "common/roles.h"
#include "devices/check.h"

#define RESOLVE_TIMEOUT_MS 2000

/* Listens for a moment, as a server would. */
static enum check_verdict try_to_listen(struct check *check, struct rdma_cm_id *id)
{
	int error = rdma_bind_addr(id, (struct sockaddr *)check->target) || rdma_listen(id, 1)
			    ? errno
			    : 0;
	char address[OUR_ADDRESS_TEXT];

	our_address_text(check->target, address);
	/* The kernel has one error for "not my address" and "port taken"; here the address is ours. */
	if (error == EADDRINUSE || error == EADDRNOTAVAIL)
		return check_fail(
			check,
			"stop the program that listens there (`rdma resource show cm_id` and, for "
			"soft-iWARP, `ss -ltnp` list them), or take another port (-p)",
			"%s is taken: %s", address, strerror(error));
	if (error || !id->verbs)
		return check_fail(check, "see docs/pitfalls.md", "a server cannot listen on %s: %s",
				  address, strerror(error ? error : ENODEV));
	return check_say(check, CHECK_OK, "a server can listen on %s, with %s", address,
			 ibv_get_device_name(id->verbs->device));
}

/* Does as a client does before its connect request. */
static enum check_verdict try_to_resolve(struct check *check, struct rdma_cm_id *id)
{
	char address[OUR_ADDRESS_TEXT];
	const char *call = "rdma_resolve_addr";

	our_address_text(check->target, address);
	if (!rdma_resolve_addr(id, NULL, (struct sockaddr *)check->target, RESOLVE_TIMEOUT_MS)) {
		call = "rdma_resolve_route";
		if (!rdma_resolve_route(id, RESOLVE_TIMEOUT_MS))
			return check_say(check, CHECK_OK, "%s can be resolved, with %s", address,
					 ibv_get_device_name(id->verbs->device));
	}
	return check_fail(
		check,
		"see whether the other machine is there and in the same network: `ping`, `ip "
		"neighbour`",
		"%s: %s: %s", address, call, strerror(errno));
}

enum check_verdict check_cm(struct check *check)
{
	enum check_verdict verdict;
	struct rdma_cm_id *id;

	if (!check->device)
		return check_say(check, CHECK_SKIPPED, "there is no device to do it with");
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
		return check_fail(check, "see the lines above", "rdma_create_id: %s",
				  strerror(errno));
	verdict = check->local ? try_to_listen(check, id) : try_to_resolve(check, id);
	rdma_destroy_id(id);
	return verdict;
}

static unsigned int netdev_mtu(const char *netdev)
{
	unsigned int mtu = 0;
	char path[64 + IF_NAMESIZE];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/net/%s/mtu", netdev);
	file = fopen(path, "re");
	if (file && fscanf(file, "%u", &mtu) != 1)
		mtu = 0;
	if (file)
		fclose(file);
	return mtu;
}

enum check_verdict check_mtu(struct check *check)
{
	unsigned int mtu = netdev_mtu(check->netdev);

	if (!check->device)
		return check_say(check, CHECK_SKIPPED, "there is no device that would have one");
	if (!mtu)
		return check_say(check, CHECK_UNKNOWN,
				 "/sys/class/net/%s/mtu, of which it is a part, cannot be read",
				 check->netdev);
	return check_say(
		check, CHECK_UNKNOWN,
		"%u bytes of %s's %u; whether each link on the way takes as much: `ping -M do "
		"-s %u ADDRESS`, between the two machines",
		devices_mtu(check->device_port->attr.active_mtu), check->netdev, mtu,
		mtu - (check->target->sa_family == AF_INET6 ? 48 : 28));
}

enum check_verdict check_firewall(struct check *check)
{
	const char *transport;

	if (!check->device)
		return check_say(check, CHECK_SKIPPED, "there is no device to send with");
	transport = devices_transport(check->device, check->device_port);
	if (!strcmp(transport, "iWARP"))
		return check_say(check, CHECK_UNKNOWN,
				 "iWARP is TCP: port %s has to be open on the server (`nft list "
				 "ruleset`), and on the way",
				 check->port);
	if (!strcmp(transport, "InfiniBand"))
		return check_say(check, CHECK_SKIPPED,
				 "no firewall sees what goes over InfiniBand; partitions (P_Keys) "
				 "separate its hosts");
	return check_say(
		check, CHECK_UNKNOWN,
		"RoCE v2 is UDP to port 4791: it has to be open on both machines (`nft list "
		"ruleset`), and on the way");
}

enum check_verdict check_peer(struct check *check)
{
	if (check->local)
		return check_say(
			check, CHECK_UNKNOWN,
			"whether others reach this address: run `devices --check %s` there",
			check->address);
	return check_say(check, CHECK_UNKNOWN,
			 "whether a server listens there, with RDMA: only by connecting: "
			 "`ping-sr-0/client -a %s -p %s`",
			 check->address, check->port);
}
