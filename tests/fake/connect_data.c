/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the private data of a connection: what peers send when they connect, accept or
 * refuse, and what the program may send. Contract: the bytes that docs/protocol.md defines, unless
 * config has others. Those may be of another version, cut short or random.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "program/options.h"
#include "tests/fake/state.h"

#define MAGIC          0x4f555231u    /* "OUR1" */
#define EXTENSION      (1 << 16 | 32) /* version and length */
#define REFUSAL        (1 << 16)      /* version; the reason is added */
#define REFUSAL_LENGTH 16

/* Hexadecimal digits in pairs, between which there may be spaces. */
static size_t from_hex(const char *hex, uint8_t *data)
{
	char pair[3] = "";
	size_t n = 0;

	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		pair[0] = *hex++;
		pair[1] = *hex;
		data[n++] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return n;
}

static size_t extend(uint8_t *data)
{
	const uint32_t extension[] = { htobe32(MAGIC), htobe32(EXTENSION) };

	if (fake_config->extension)
		return from_hex(fake_config->extension, data);
	if (fake_config->stranger)
		return 0;
	memcpy(data, extension, sizeof(extension));
	return sizeof(extension);
}

size_t fake_connect_data(const struct fake_peer *peer, uint8_t *data)
{
	uint64_t count = fake_config->unlimited || fake_config->talks ? OUR_COUNT_UNLIMITED
								      : peer->count;
	const uint64_t words[] = { htobe64(count), htobe64(peer->size),
				   htobe64(fake_config->blast ? peer->buffers : 0) };
	size_t length;

	memcpy(data, words, sizeof(words));
	length = sizeof(words) + extend(data + sizeof(words));
	if (fake_config->cut_short && fake_config->cut_at < length)
		length = fake_config->cut_at;
	return length;
}

void fake_hear_connect_data(struct fake_peer *peer, const struct rdma_conn_param *param)
{
	uint64_t count = fake_config->talks ? OUR_COUNT_UNLIMITED : peer->count, words[3];
	uint32_t extension[2];

	if (fake_report->one_file && param->private_data_len == 2 * sizeof(*words)) {
		memcpy(words, param->private_data, param->private_data_len);
		if (be64toh(words[0]) != peer->count || be64toh(words[1]) != peer->size)
			fake_complain("the private data have the wrong count or size");
		peer->buffers = 0;
		return;
	}
	if (param->private_data_len != sizeof(words) + sizeof(extension)) {
		fake_complain("%u bytes of private data", param->private_data_len);
		return;
	}
	memcpy(words, param->private_data, sizeof(words));
	memcpy(extension, (const uint8_t *)param->private_data + sizeof(words), sizeof(extension));
	if (be64toh(words[0]) != count || be64toh(words[1]) != peer->size)
		fake_complain("the private data have the wrong count or size");
	if (be32toh(extension[0]) != MAGIC || be32toh(extension[1]) != EXTENSION)
		fake_complain("the private data have another extension");
	peer->buffers = (uint32_t)be64toh(words[2]);
}

bool fake_answer(struct fake_id *id)
{
	uint8_t data[FAKE_PRIVATE_DATA];
	size_t length;

	if (!fake_config->refusal) {
		memset(data, 0xa5, sizeof(data)); /* no program may use these bytes */
		fake_send_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, data, fake_config->accept_data);
		return true;
	}
	length = from_hex(fake_config->refusal, data);
	fake_send_event(id, RDMA_CM_EVENT_REJECTED, fake_config->iwarp ? -ECONNRESET : 28, data,
			length);
	return false;
}

void fake_hear_refusal(const uint8_t *data, size_t length)
{
	uint32_t words[2];
	uint64_t limit;

	if (!length) /* from a program that does not know private data */
		return;
	if (length != REFUSAL_LENGTH) {
		fake_complain("rdma_reject: %zu bytes of private data", length);
		return;
	}
	memcpy(words, data, sizeof(words));
	memcpy(&limit, data + sizeof(words), sizeof(limit));
	if (be32toh(words[0]) != MAGIC || (be32toh(words[1]) & 0xffff0000u) != REFUSAL)
		fake_complain("rdma_reject: the private data have another magic or version");
	fake_report->refused = be32toh(words[1]) & 0xffff;
	fake_report->refused_limit = be64toh(limit);
	if (!fake_report->refused_first)
		fake_report->refused_first = fake_report->refused;
}
