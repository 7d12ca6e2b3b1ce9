/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How a flattened program sees that a record is whole: by the numbers, and if a device has moved it, by
 * the sum, too.
 */
#include "pubsub-rdma-1/record.h"

bool our_record_is_whole(const uint8_t *copy, size_t size)
{
	bool agree = numbers_agree(copy, size);

	return IS_CLIENT ? agree && sum_agrees(copy, size) : agree;
}
