/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, ids that listen: their addresses, and the limit on requests. Contract: as in
 * the man pages. What they do not define is as in the drivers: requests beyond the backlog are
 * lost.
 */
#include <errno.h>
#include <string.h>

#include "common/addresses.h"
#include "tests/fake/state.h"

#define MAX_BACKLOG 1024 /* the default and the maximum of the module rdma_ucm */

int rdma_set_option(struct rdma_cm_id *pub, int level, int name, void *value, size_t length)
{
	struct fake_fault fault = fake_begin("rdma_set_option");
	struct fake_id *id = fake_of(struct fake_id, pub);

	if (!fault.error && fake_use(&id->object, "rdma_set_option") && level == RDMA_OPTION_ID &&
	    name == RDMA_OPTION_ID_AFONLY) {
		if (length != sizeof(int))
			fault.error = EINVAL;
		else
			id->one_family = *(const int *)value;
	}
	return fake_end_rdma(fault.error);
}

/*
 * An IPv6 id that is bound to any address also gets the requests for IPv4, unless
 * RDMA_OPTION_ID_AFONLY is set.
 */
static bool is_taken(const struct sockaddr *address, bool one_family)
{
	static bool any4, any6, both;
	bool is6 = address->sa_family == AF_INET6, taken;

	if (!our_is_any_address(address))
		return false;
	taken = both || (is6 ? any6 || (!one_family && any4) : any4);
	any4 |= !is6;
	any6 |= is6;
	both |= is6 && !one_family && !taken;
	return taken;
}

static bool has_device(const struct sockaddr *address)
{
	static unsigned int tried;

	if (!tried++ && fake_config->no_device_first)
		return false;
	return !our_is_any_address(address) && !fake_config->no_device;
}

int rdma_bind_addr(struct rdma_cm_id *pub, struct sockaddr *address)
{
	struct fake_fault fault = fake_begin("rdma_bind_addr");
	struct fake_id *id = fake_of(struct fake_id, pub);

	if (!fault.error && is_taken(address, id->one_family))
		fault.error = EADDRINUSE;
	if (!fault.error && fake_use(&id->object, "rdma_bind_addr")) {
		memcpy(&pub->route.addr.src_storage, address,
		       address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						      : sizeof(struct sockaddr_in));
		if (has_device(address))
			fake_give_device(id);
	}
	return fake_end_rdma(fault.error);
}

static void check_backlog(unsigned int arrived, int backlog)
{
	unsigned int room = MAX_BACKLOG;

	if (backlog > 0 && backlog < MAX_BACKLOG)
		room = (unsigned int)backlog;
	if (arrived > room)
		fake_complain("rdma_listen: of %u requests, %u are lost beyond the backlog",
			      arrived, arrived - room);
}

int rdma_listen(struct rdma_cm_id *pub, int backlog)
{
	struct fake_fault fault = fake_begin("rdma_listen");
	struct fake_id *id = fake_of(struct fake_id, pub);

	if (!fault.error && fake_use(&id->object, "rdma_listen")) {
		id->state = FAKE_LISTENING;
		if (fault.device_leaves) {
			fake_strikes();
			fake_send_event(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL, 0);
		} else {
			check_backlog(fake_clients_arrive(id), backlog);
		}
	}
	return fake_end_rdma(fault.error);
}
