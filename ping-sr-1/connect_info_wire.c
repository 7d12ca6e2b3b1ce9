/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-1: private data, from structures to bytes and back. See connect_info.h.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "ping-sr-1/connect_info.h"

static void put_be64(uint8_t *data, uint64_t value)
{
	value = htobe64(value);
	memcpy(data, &value, sizeof(value));
}

static void put_be32(uint8_t *data, uint32_t value)
{
	value = htobe32(value);
	memcpy(data, &value, sizeof(value));
}

static void put_be16(uint8_t *data, uint16_t value)
{
	value = htobe16(value);
	memcpy(data, &value, sizeof(value));
}

/* A byte beyond the end is read as 0, as if the transport had padded a little more. */
static uint64_t get_be(const uint8_t *data, size_t length, size_t offset, size_t size)
{
	uint64_t value = 0;
	size_t i;

	for (i = offset; i < offset + size; i++)
		value = value << 8 | (i < length ? data[i] : 0);
	return value;
}

static bool is_zero(const uint8_t *data, size_t from, size_t to)
{
	for (; from < to; from++) {
		if (data[from])
			return false;
	}
	return true;
}

void our_encode_connect_info(const struct our_connect_info *info, uint8_t *data)
{
	put_be64(data, info->count);
	put_be64(data + 8, info->data_size);
	put_be64(data + 16, info->n_data_buffers);
	put_be32(data + 24, OUR_CONNECT_INFO_MAGIC);
	put_be16(data + 28, OUR_CONNECT_INFO_VERSION);
	put_be16(data + 30, OUR_CONNECT_INFO_LENGTH);
}

/* Returns true if the bytes from 24 on are more than padding. */
static bool has_extension(const uint8_t *data, size_t length)
{
	return length > 24 && !is_zero(data, 24, length);
}

/*
 * The rest must be our whole extension. Ignores the fields that a higher version has after ours.
 */
static int check_extension(const uint8_t *data, size_t length)
{
	uint64_t version = get_be(data, length, 28, 2), whole = get_be(data, length, 30, 2);

	if (length < OUR_CONNECT_INFO_LENGTH ||
	    get_be(data, length, 24, 4) != OUR_CONNECT_INFO_MAGIC)
		return EPROTO;
	if (version < OUR_CONNECT_INFO_VERSION || whole < OUR_CONNECT_INFO_LENGTH || whole > length)
		return EPROTO;
	if (version == OUR_CONNECT_INFO_VERSION && whole != OUR_CONNECT_INFO_LENGTH)
		return EPROTO;
	return is_zero(data, whole, length) ? 0 : EPROTO;
}

int our_decode_connect_info(const uint8_t *data, size_t length, struct our_connect_info *info)
{
	if (length < 16 || (length > 16 && length < 24 && !is_zero(data, 16, length)))
		return EPROTO;
	info->has_extension = has_extension(data, length);
	if (info->has_extension && check_extension(data, length))
		return EPROTO;
	info->count = get_be(data, length, 0, 8);
	info->data_size = get_be(data, length, 8, 8);
	info->n_data_buffers = get_be(data, length, 16, 8);
	return 0;
}

void our_encode_refusal(const struct our_refusal *refusal, uint8_t *data)
{
	put_be32(data, OUR_CONNECT_INFO_MAGIC);
	put_be16(data + 4, OUR_CONNECT_INFO_VERSION);
	put_be16(data + 6, (uint16_t)refusal->reason);
	put_be64(data + 8, refusal->limit);
}

int our_decode_refusal(const uint8_t *data, size_t length, struct our_refusal *refusal)
{
	if (length < OUR_REFUSAL_LENGTH || get_be(data, length, 0, 4) != OUR_CONNECT_INFO_MAGIC ||
	    get_be(data, length, 4, 2) != OUR_CONNECT_INFO_VERSION)
		return EPROTO;
	refusal->reason = (enum our_refusal_reason)get_be(data, length, 6, 2);
	refusal->limit = get_be(data, length, 8, 8);
	return 0;
}
