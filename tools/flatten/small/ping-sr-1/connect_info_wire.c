/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Private data in a flattened program. Behind what the client wrote the transport may have put zeros.
 */
#include <errno.h>

#include "ping-sr-1/connect_info.h"

/* All integers are big-endian. */
static void put_be(uint8_t *data, uint64_t value, size_t size)
{
	while (size--) {
		data[size] = (uint8_t)value;
		value >>= 8;
	}
}

static uint64_t get_be(const uint8_t *data, size_t size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | *data++;
	return value;
}

void our_encode_connect_info(const struct our_connect_info *info, uint8_t *data)
{
	put_be(data, info->count, 8);
	put_be(data + 8, info->data_size, 8);
	put_be(data + 16, info->n_data_buffers, 8);
	put_be(data + 24, OUR_CONNECT_INFO_MAGIC, 4);
	put_be(data + 28, OUR_CONNECT_INFO_VERSION, 2);
	put_be(data + 30, OUR_CONNECT_INFO_LENGTH, 2);
}

int our_decode_connect_info(const uint8_t *data, size_t length, struct our_connect_info *info)
{
	if (length < 16)
		return EPROTO;
	info->count = get_be(data, 8);
	info->data_size = get_be(data + 8, 8);
	info->n_data_buffers = length < 24 ? 0 : get_be(data + 16, 8);
	info->has_extension = length >= OUR_CONNECT_INFO_LENGTH &&
			      get_be(data + 24, 4) == OUR_CONNECT_INFO_MAGIC;
	return 0;
}
