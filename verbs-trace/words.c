/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace: numbers and structures as text. See words.h.
 */
#include <inttypes.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "verbs-trace/words.h"

#define MAGIC      0x4f555231u /* docs/protocol.md */
#define SHOWN      32          /* bytes of private data */
#define ADDRESS    80
#define NAMES(all) (sizeof(all) / sizeof(all[0]))

static const char *address_text(const struct sockaddr *address, char *text)
{
	bool ipv6 = address->sa_family == AF_INET6;
	socklen_t length = ipv6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	char host[64], port[8];

	if (getnameinfo(address, length, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(text, ADDRESS, "(none)");
	else
		snprintf(text, ADDRESS, ipv6 ? "[%s]:%s" : "%s:%s", host, port);
	return text;
}

const char *verbs_trace_addresses(struct rdma_cm_id *id, char *text, size_t size)
{
	char local[ADDRESS], peer[ADDRESS];

	snprintf(text, size, "local %s, peer %s", address_text(rdma_get_local_addr(id), local),
		 address_text(rdma_get_peer_addr(id), peer));
	return text;
}

static uint64_t big_endian(const uint8_t *data, size_t size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | *data++;
	return value;
}

static bool is_zero(const uint8_t *data, size_t length)
{
	while (length && !data[length - 1])
		length--;
	return !length;
}

/* What the bytes mean if they are a connect request's or a refusal's. */
static void decode(const uint8_t *data, size_t length, char *text, size_t size)
{
	if (length >= 32 && big_endian(data + 24, 4) == MAGIC)
		snprintf(text, size, ": count %" PRIu64 ", data_size %" PRIu64 ", buffers %" PRIu64,
			 big_endian(data, 8), big_endian(data + 8, 8), big_endian(data + 16, 8));
	else if (length >= 16 && big_endian(data, 4) == MAGIC)
		snprintf(text, size, ": refusal %" PRIu64 ", limit %" PRIu64,
			 big_endian(data + 6, 2), big_endian(data + 8, 8));
	else
		*text = '\0';
}

const char *verbs_trace_private_data(const void *data, size_t length, char *text, size_t size)
{
	char hex[2 * SHOWN + 1] = "", meaning[96];
	const uint8_t *bytes = data;
	size_t i, shown = length < SHOWN ? length : SHOWN;

	if (is_zero(bytes, length)) { /* the transport's padding of nothing at all */
		snprintf(text, size, "private data (%zu bytes): zeros", length);
		return text;
	}

	for (i = 0; i < shown; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	decode(bytes, length, meaning, sizeof(meaning));
	snprintf(text, size, "private data (%zu bytes) %s%s%s", length, hex,
		 length > shown ? "..." : "", meaning);
	return text;
}

static uint64_t bytes_of(const struct ibv_sge *sges, int n)
{
	uint64_t bytes = 0;

	while (n--)
		bytes += sges[n].length;
	return bytes;
}

static const char *more_text(unsigned int more, char *text, size_t size)
{
	snprintf(text, size, more ? ", and %u more in the chain" : "", more);
	return text;
}

const char *verbs_trace_send(const struct ibv_send_wr *wr, char *text, size_t size)
{
	static const char *const opcodes[] = {
		[IBV_WR_RDMA_WRITE] = "RDMA_WRITE",
		[IBV_WR_RDMA_WRITE_WITH_IMM] = "RDMA_WRITE_WITH_IMM",
		[IBV_WR_SEND] = "SEND",
		[IBV_WR_SEND_WITH_IMM] = "SEND_WITH_IMM",
		[IBV_WR_RDMA_READ] = "RDMA_READ",
		[IBV_WR_ATOMIC_CMP_AND_SWP] = "ATOMIC_CMP_AND_SWP",
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = "ATOMIC_FETCH_AND_ADD",
	};
	const char *opcode = wr->opcode < NAMES(opcodes) ? opcodes[wr->opcode] : "other opcode";
	const struct ibv_send_wr *next = wr;
	unsigned int more = 0;
	char chain[48];

	while ((next = next->next))
		more++;
	snprintf(text, size, "wr_id 0x%" PRIx64 ", %s of %" PRIu64 " bytes%s%s%s", wr->wr_id,
		 opcode, bytes_of(wr->sg_list, wr->num_sge),
		 wr->send_flags & IBV_SEND_SIGNALED ? ", signaled" : "",
		 wr->send_flags & IBV_SEND_INLINE ? ", inline" : "",
		 more_text(more, chain, sizeof(chain)));
	return text;
}

const char *verbs_trace_recv(const struct ibv_recv_wr *wr, char *text, size_t size)
{
	const struct ibv_recv_wr *next = wr;
	unsigned int more = 0;
	char chain[48];

	while ((next = next->next))
		more++;
	snprintf(text, size, "wr_id 0x%" PRIx64 ", %" PRIu64 " bytes%s", wr->wr_id,
		 bytes_of(wr->sg_list, wr->num_sge), more_text(more, chain, sizeof(chain)));
	return text;
}

const char *verbs_trace_completion(const struct ibv_wc *wc, char *text, size_t size)
{
	if (wc->status != IBV_WC_SUCCESS)
		snprintf(text, size, "FAILED: wr_id 0x%" PRIx64 ", %s (%d), vendor 0x%x", wc->wr_id,
			 ibv_wc_status_str(wc->status), wc->status, wc->vendor_err);
	else if (wc->opcode & IBV_WC_RECV)
		snprintf(text, size, "receive completed, wr_id 0x%" PRIx64 ", %u bytes", wc->wr_id,
			 wc->byte_len);
	else
		snprintf(text, size, "%s completed, wr_id 0x%" PRIx64,
			 wc->opcode == IBV_WC_RDMA_WRITE  ? "RDMA_WRITE"
			 : wc->opcode == IBV_WC_RDMA_READ ? "RDMA_READ"
							  : "send",
			 wc->wr_id);
	return text;
}
