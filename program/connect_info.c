/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the two sides tell each other when they connect, if anything. See connect_info.h.
 */
#include "common/private.h"
#include "program/config.h"
#include "program/stage.h"

int our_tell_and_connect(struct our_control *client)
{
	const struct our_connect_info_ops *ops = our_stage_of(client)->connect_info;
	uint8_t data[OUR_MOST_TO_CONNECT];
	size_t length = ops ? ops->tell(client, data) : 0;

	return our_client_connect(client, length ? data : NULL, length);
}
