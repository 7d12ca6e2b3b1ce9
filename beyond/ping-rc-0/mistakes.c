/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rc-0: mistakes in connecting a QP, made on purpose; README.md has the result of each. See
 * bare.h.
 */
#include "beyond/ping-rc-0/bare.h"

/* In the order of the option's words. */
enum mistake {
	NO_GRH = 1,
	WRONG_QPN,
	WRONG_PSN,
	WRONG_ADDRESS,
};

uint64_t our_mistake;

void our_make_mistake(struct ibv_qp_attr *attr)
{
	switch (our_mistake) {
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
