/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests. See table.h. To add a stage, add a row here.
 */
#include <infiniband/verbs.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/stages/table.h"
#include "tests/support/suite.h"

#define STAGE_IN(folder, stage) \
	.name = (stage), .client = folder stage "/client", .server = folder stage "/server"
#define STAGE(stage)  STAGE_IN("", stage)
#define BEYOND(stage) STAGE_IN("beyond/", stage)

static const struct stage ladder[] = {
	{ STAGE("ping-sr-0") },
	{ STAGE("ping-sr-1"), .negotiates = true, .only_tells = true },
	{ STAGE("ping-sr-2e"), .negotiates = true, .only_waits = true },
	{ STAGE("ping-sr-2"), .negotiates = true, .notices_peer_death = true },
	{ STAGE("ping-sr-3"), .negotiates = true, .notices_peer_death = true, .only_waits = true },
	{ STAGE("ping-sr-4"), .negotiates = true, .notices_peer_death = true,
	  .ids_come_as_events = true },
	{ STAGE("ping-sr-5"), .negotiates = true, .notices_peer_death = true, .only_waits = true },
	{ STAGE("blast-sr-2"), .negotiates = true, .notices_peer_death = true, .streams = true },
	{ BEYOND("ping-rc-0"), .notices_peer_death = true, .beside = true, .bare = true },
	{ BEYOND("ping-rdma-1"), .negotiates = true, .notices_peer_death = true, .beside = true,
	  .one_sided = 2 },
	{ BEYOND("ping-rdma-2"), .negotiates = true, .notices_peer_death = true, .beside = true,
	  .one_sided = 1, .only_waits = true },
	{ BEYOND("ping-rdma-3"), .negotiates = true, .notices_peer_death = true, .beside = true,
	  .one_sided = 1, .agent_sees = true },
	{ BEYOND("blast-rdma-1"), .negotiates = true, .notices_peer_death = true, .beside = true,
	  .one_sided = 1, .only_writes = true },
	{ BEYOND("count-atomic-1"), .negotiates = true, .notices_peer_death = true, .beside = true,
	  .one_sided = 1, .counts = true },
	{ BEYOND("ping-srq-4"), .negotiates = true, .notices_peer_death = true,
	  .ids_come_as_events = true, .shares_receives = true, .beside = true },
};

#define WAY(cm, completions)                                                              \
	.name = cm "-" completions, .client = "build/nine/" cm "-" completions "/client", \
	.server = "build/nine/" cm "-" completions "/server"

#define BLIND   .negotiates = true, .only_waits = true
#define NOTICES BLIND, .notices_peer_death = true

/* Whether a stage notices that a peer has died depends only on its CM part. */
static const struct stage nine[] = {
	{ WAY("none", "none"), BLIND },
	{ WAY("none", "channel"), BLIND },
	{ WAY("none", "nonblocking"), BLIND },
	{ WAY("channel", "none"), NOTICES },
	{ WAY("channel", "channel"), NOTICES },
	{ WAY("channel", "nonblocking"), NOTICES },
	{ WAY("nonblocking", "none"), NOTICES },
	{ WAY("nonblocking", "channel"), NOTICES },
	{ WAY("nonblocking", "nonblocking"), NOTICES },
};

const struct stage *stages;
int n_stages;

void choose_stages(void)
{
	bool of_nine = getenv("STAGES_NINE");

	stages = of_nine ? nine : ladder;
	n_stages = (int)(of_nine ? sizeof(nine) / sizeof(nine[0])
				 : sizeof(ladder) / sizeof(ladder[0]));
}

struct target targets[MAX_TARGETS];
int n_targets;

static void die(const char *what, const char *address)
{
	fprintf(stderr, "stage tests: %s%s\n", what, address);
	exit(EXIT_FAILURE);
}

static void describe_device(struct target *target, struct ibv_context *verbs, uint8_t port_number)
{
	struct ibv_port_attr port;

	if (ibv_query_port(verbs, port_number, &port))
		die("ibv_query_port fails on the device of ", target->address);
	snprintf(target->device, sizeof(target->device), "%s", ibv_get_device_name(verbs->device));
	target->max_message = port.max_msg_sz;
	if (verbs->device->transport_type == IBV_TRANSPORT_IWARP)
		target->transport = "iWARP";
	else if (port.link_layer == IBV_LINK_LAYER_ETHERNET)
		target->transport = "RoCE";
	else
		target->transport = "InfiniBand";
}

static void add_target(const char *address, const char *peer)
{
	struct target *target = &targets[n_targets++];
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST };
	struct addrinfo *found;
	struct rdma_cm_id *id;

	target->address = address;
	target->peer = peer ? peer : address;
	if (getaddrinfo(address, NULL, &hints, &found))
		die("not a numeric address: ", address);
	target->ipv6 = found->ai_family == AF_INET6;
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP))
		die("no RDMA here: rdma_create_id fails for ", address);
	if (rdma_bind_addr(id, found->ai_addr) || !id->verbs)
		die("no RDMA device serves ", address);
	describe_device(target, id->verbs, id->port_num);
	rdma_destroy_id(id);
	freeaddrinfo(found);
}

static void add_lab_target(const char *variable, const char *peer_variable, const char *what)
{
	const char *address = getenv(variable);

	if (address)
		add_target(address, getenv(peer_variable));
	else
		suite_skip(what, "%s is not set: the lab was started without it", variable);
}

void find_targets(void)
{
	const char *address = getenv("RDMA_ADDR");

	if (address) {
		add_target(address, NULL);
		suite_skip("all stages, other addresses", "RDMA_ADDR=%s is the only one", address);
		return;
	}
	if (!getenv("LAB_GUEST"))
		die("neither in the lab nor with RDMA_ADDR: see tests/run", "");
	add_lab_target("LAB_ROCE_ADDR", "LAB_PEER_ROCE_ADDR", "all stages, RoCE, IPv4");
	add_lab_target("LAB_ROCE_ADDR6", "LAB_PEER_ROCE_ADDR6", "all stages, RoCE, IPv6");
	add_lab_target("LAB_IWARP_ADDR", "LAB_PEER_IWARP_ADDR", "all stages, iWARP, IPv4");
	add_lab_target("LAB_IWARP_ADDR6", "LAB_PEER_IWARP_ADDR6", "all stages, iWARP, IPv6");
	if (!n_targets)
		die("the lab has no RDMA device", "");
}

bool can_run(const struct stage *stage, const struct target *target)
{
	return (!stage->bare && !stage->counts) || strcmp(target->transport, "iWARP") != 0;
}

const char *setting_name(int number)
{
	struct setting at = setting_of(number);

	return suite_name("%s %s %s", at.stage->name, at.target->device,
			  at.target->ipv6 ? "IPv6" : "IPv4");
}
