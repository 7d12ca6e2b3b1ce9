/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Private data in a flattened program. Behind what the client wrote the transport may have put zeros.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "ping-sr-1/connect_info.h"

/* All integers are big-endian. */
void our_encode_connect_info(const struct our_connect_info *info, uint8_t *data)
{
	const uint64_t words[] = {
		htobe64(info->count),
		htobe64(info->data_size),
		htobe64(info->n_data_buffers),
		htobe64((uint64_t)OUR_CONNECT_INFO_MAGIC << 32 | OUR_CONNECT_INFO_VERSION << 16 |
			OUR_CONNECT_INFO_LENGTH),
	};

	memcpy(data, words, sizeof(words));
}

/* All integers are big-endian. */
int our_decode_connect_info(const uint8_t *data, size_t length, struct our_connect_info *info)
{
	uint64_t words[4] = { 0 };

	memcpy(words, data, length < sizeof(words) ? length : sizeof(words));
	info->count = be64toh(words[0]);
	info->data_size = be64toh(words[1]);
	info->n_data_buffers = be64toh(words[2]);
	info->has_extension = length >= OUR_CONNECT_INFO_LENGTH &&
			      be64toh(words[3]) >> 32 == OUR_CONNECT_INFO_MAGIC;
	return length < 16 ? EPROTO : 0;
}
