/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rc-0: the queue pair, and its way through the states INIT, RTR (ready to receive) and RTS
 * (ready to send), which rdma_cm otherwise does for us. Each attribute that a step needs is set
 * here; README.md has them in a table. See common/waiting.h.
 */
#include <errno.h>
#include <string.h>

#include "beyond/ping-rc-0/bare.h"
#include "common/waiting.h"
#include "program/report.h"

#define RETRY_COUNT     6  /* three bits, but soft-RoCE takes 7 for "forever" */
#define RNR_RETRY_COUNT 7  /* means "forever" */
#define RNR_TIMER       12 /* 0.64 ms: the InfiniBand specification has the codes */
#define ACK_TIMEOUT     17 /* 4.096 us * 2^17 = 0.54 s */
#define READ_DEPTH      1  /* we send no RDMA READs, but some devices refuse 0 */
#define HOP_LIMIT       64 /* with 1, no router would forward a packet */

/* The mistakes, in the order of the option's words. */
enum mistake {
	NO_GRH = 1,
	WRONG_QPN,
	WRONG_PSN,
	WRONG_ADDRESS,
};

static uint64_t mistake; /* --mistake; 0: none */

const struct our_option our_mistake_options[] = {
	{ "mistake", 0, "no-grh|qpn|psn|address",
	  "tell the QP something wrong about its peer (README.md)", OUR_OWN_WORD(mistake) },
	{ 0 },
};

/* Takes the QP from RESET to INIT: sets the port, and what the peer may do with our memory. */
static int to_init(struct our_control *control)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_INIT;
	attr.pkey_index = 0; /* the partition that each port is in */
	attr.port_num = control->port_num;
	attr.qp_access_flags = 0; /* messages, and no RDMA READ or WRITE */
	return OUR_CALL(ibv_modify_qp(control->qp, &attr,
				      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					      IBV_QP_ACCESS_FLAGS));
}

/* Sets the way to the peer's port: on RoCE its GID, an IP address; on InfiniBand its LID may do. */
static void setup_address(const struct our_control *control, struct ibv_ah_attr *address)
{
	const struct our_bare *bare = our_bare_of(control);

	address->port_num = control->port_num;
	address->dlid = bare->remote.lid;
	address->is_global = bare->is_ethernet || bare->remote.gid.global.interface_id;
	address->grh.dgid = bare->remote.gid;
	address->grh.sgid_index = bare->gid_index; /* this also selects the version of RoCE */
	address->grh.hop_limit = HOP_LIMIT;
}

/* Changes what the QP will be told about its peer; README.md has the result of each mistake. */
static void make_mistake(struct ibv_qp_attr *attr)
{
	switch (mistake) {
	case NO_GRH:
		attr->ah_attr.is_global = 0;
		break;
	case WRONG_QPN:
		attr->dest_qp_num ^= 0x800000;
		break;
	case WRONG_PSN:
		attr->rq_psn = (attr->rq_psn + 0x400000) & 0xffffff;
		break;
	case WRONG_ADDRESS:
		attr->ah_attr.grh.dgid.raw[15] ^= 0x40;
		attr->ah_attr.dlid ^= 0x40;
		break;
	}
}

/*
 * Takes the QP from INIT to RTR: sets the peer's QP. From now on the QP accepts what the peer
 * sends, if a receive is posted.
 */
static int to_rtr(struct our_control *control)
{
	const struct our_bare *bare = our_bare_of(control);
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	setup_address(control, &attr.ah_attr);
	attr.path_mtu = bare->mtu;
	attr.dest_qp_num = bare->remote.qp_num;
	attr.rq_psn = bare->remote.psn;
	attr.max_dest_rd_atomic = READ_DEPTH;
	attr.min_rnr_timer = RNR_TIMER;
	make_mistake(&attr);
	return OUR_CALL(ibv_modify_qp(control->qp, &attr,
				      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					      IBV_QP_MIN_RNR_TIMER));
}

/* Takes the QP from RTR to RTS: sets how it sends, and how often it tries. */
static int to_rts(struct our_control *control)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = our_bare_of(control)->local.psn;
	attr.timeout = ACK_TIMEOUT;
	attr.retry_cnt = RETRY_COUNT;
	attr.rnr_retry = RNR_RETRY_COUNT;
	attr.max_rd_atomic = READ_DEPTH;
	return OUR_CALL(ibv_modify_qp(control->qp, &attr,
				      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
					      IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					      IBV_QP_MAX_QP_RD_ATOMIC));
}

static const char *advice_for_rtr(int error)
{
	switch (error) {
	case EINVAL:
		return "to RTR: the address of the peer's port is incomplete, or does not fit ours: on "
		       "RoCE there must be a GRH, and both GIDs of one kind (IPv4 or IPv6)";
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return "to RTR: nobody answers for the IP address that is the peer's GID, or it cannot "
		       "be reached from the address that is ours: is --gid-index right on both sides?";
	default:
		return "to RTR";
	}
}

int our_connect_qp(struct our_control *control)
{
	int ret;

	ret = to_rtr(control);
	if (ret)
		return our_report_error("ibv_modify_qp", ret, "%s", advice_for_rtr(ret));
	ret = to_rts(control);
	if (ret)
		return our_report_error("ibv_modify_qp", ret, "to RTS");
	return 0;
}

int our_bare_make_qp(struct our_control *control, struct ibv_qp_init_attr *attr, const char **call)
{
	int ret;

	*call = "ibv_create_qp";
	ret = OUR_CREATE(control->qp, ibv_create_qp(control->pd, attr));
	if (ret)
		return ret;
	*call = "ibv_modify_qp";
	ret = to_init(control); /* from INIT on, receives can be posted */
	if (ret)
		our_bare_destroy_qp(control);
	return ret;
}

void our_bare_destroy_qp(struct our_control *control)
{
	int ret = OUR_CALL(ibv_destroy_qp(control->qp));

	if (ret)
		our_report_error("ibv_destroy_qp", ret, NULL);
	control->qp = NULL;
}
