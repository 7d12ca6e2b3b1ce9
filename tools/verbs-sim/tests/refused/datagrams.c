/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Datagrams: which arrive. See refused.h.
 */
#include <malloc.h>

#include "verbs-sim/tests/refused/refused.h"

enum how {
	RIGHT,
	OTHER_KEY,
	OTHER_QP_NUMBER,
	OTHER_GID,
	NOT_READY,
	OF_RC,
	AH_GONE
};

static const struct row {
	const char *what;
	enum how how;
	uint32_t length, room;
} rows[] = {
	{ "right", RIGHT, 64, 104 },
	{ "a receive of one byte less", RIGHT, 64, 103 },
	{ "of no byte", RIGHT, 0, 40 },
	{ "another qkey", OTHER_KEY, 64, 104 },
	{ "another QP", OTHER_QP_NUMBER, 64, 104 },
	{ "another address", OTHER_GID, 64, 104 },
	{ "a QP that is not ready", NOT_READY, 64, 104 },
	{ "a QP of type RC", OF_RC, 64, 104 },
	{ "an AH that is destroyed", AH_GONE, 64, 104 },
};

/* Destroys an AH. Returns a copy: librxe keeps the number of an AH in the AH. */
static struct ibv_ah *destroyed(struct ibv_ah *ah)
{
	size_t size = malloc_usable_size(ah);
	void *copy = memcpy(malloc(size), ah, size);

	must(!ibv_destroy_ah(ah), "ibv_destroy_ah");
	return copy;
}

/* Prints what comes of a datagram by this path, at both ends. `rc` is the number of a QP of type RC. */
static void try_datagram(const struct row *row, struct ibv_ah_attr *path, uint32_t rc)
{
	struct ibv_ah *ah = ibv_create_ah(ends.client.pd, path);
	struct ibv_send_wr wr = operation(IBV_WR_SEND, 0, 0, row->length);
	struct ibv_qp *peer = create_for_datagrams(
		&ends.server, row->how == NOT_READY ? IBV_QPS_INIT : IBV_QPS_RTR);

	ends.server.id->qp = peer;
	ends.client.id->qp = create_for_datagrams(&ends.client, IBV_QPS_RTS);
	must(!post_recv(&ends.server, row->room), "ibv_post_recv");
	wr.wr.ud.ah = row->how == AH_GONE ? destroyed(ah) : ah;
	wr.wr.ud.remote_qpn = row->how == OF_RC ? rc : peer->qp_num + (row->how == OTHER_QP_NUMBER);
	wr.wr.ud.remote_qkey = QKEY + (row->how == OTHER_KEY);
	printf("%s: %s,", row->what, outcome(&ends.client, wr));
	printf(" %s\n", next_status(&ends.server));
}

void try_datagrams(void)
{
	struct ibv_ah_attr path = path_to_server(), wrong;
	uint32_t rc = ends.server.id->qp->qp_num;
	struct ibv_port_attr port;
	size_t i;

	must(!ibv_query_port(ends.client.id->verbs, 1, &port), "ibv_query_port");
	if (port.link_layer == IBV_LINK_LAYER_INFINIBAND)
		path = (struct ibv_ah_attr){ .dlid = port.lid, .port_num = 1 };
	wrong = path;
	wrong.grh.dgid.raw[15]++;
	wrong.dlid++;
	for (i = 0; i < LENGTH(rows); i++)
		try_datagram(&rows[i], rows[i].how == OTHER_GID ? &wrong : &path, rc);
}
