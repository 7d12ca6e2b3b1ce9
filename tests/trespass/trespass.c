/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: tests: a client of the one-sided stages that follows docs/protocol.md, shares no code with
 * them, and accesses memory without the right to it. Contract: "trespass ADDRESS HOW -p PORT";
 * prints the result of the request; exit status 0 if it was refused, 1 if it was not (with
 * "honest", the other way round), 2 for wrong usage.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE       64
#define PAGE       4096
#define PATIENCE_S 10

static uint8_t memory[2 * PAGE] __attribute__((aligned(PAGE)));
static uint8_t *const told = memory + PAGE, *const heard = memory + PAGE + 64;

static __attribute__((noreturn)) void die(const char *what)
{
	fprintf(stderr, "trespass: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void must(bool fine, const char *what)
{
	if (!fine)
		die(what);
}

static void put_be(uint8_t *to, uint64_t value, int bytes)
{
	while (bytes--) {
		to[bytes] = (uint8_t)value;
		value >>= 8;
	}
}

static uint64_t get_be(const uint8_t *from, int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *from++;
	return value;
}

/*
 * Waits for the completion of what was posted to the send queue. soft-iWARP makes none of what is posted
 * when the connection has ended: that is as good as a flush.
 */
static enum ibv_wc_status send_status(struct rdma_cm_id *id)
{
	time_t end = time(NULL) + PATIENCE_S;
	struct ibv_wc wc = { .status = IBV_WC_WR_FLUSH_ERR };

	while (!ibv_poll_cq(id->send_cq, 1, &wc) && time(NULL) < end)
		;
	return wc.status;
}

static struct rdma_cm_id *connect_to(const char *address, const char *port, struct ibv_mr **mr)
{
	struct ibv_qp_init_attr attr = { .cap = { 4, 4, 1, 1, 0 }, .sq_sig_all = 1 };
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *found;
	uint8_t info[24] = { 0 };
	struct rdma_conn_param param = { .private_data = info,
					 .private_data_len = sizeof(info),
					 .responder_resources = 1,
					 .initiator_depth = 1,
					 .retry_count = 6,
					 .rnr_retry_count = 7 };
	struct rdma_cm_id *id;

	must(!rdma_getaddrinfo(address, port, &hints, &found), "rdma_getaddrinfo");
	must(!rdma_create_ep(&id, found, NULL, &attr), "rdma_create_ep");
	rdma_freeaddrinfo(found);
	*mr = ibv_reg_mr(id->pd, memory, sizeof(memory),
			 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	must(*mr, "ibv_reg_mr");
	must(!rdma_post_recv(id, heard, heard, 16, *mr), "rdma_post_recv");
	must(!rdma_post_recv(id, heard + 16, heard + 16, 8, *mr), "rdma_post_recv");
	put_be(info, 1, 8);
	put_be(info + 8, SIZE, 8);
	must(!rdma_connect(id, &param), "rdma_connect");
	return id;
}

static void tell(struct rdma_cm_id *id, struct ibv_mr *mr, uint32_t length)
{
	struct ibv_wc wc;

	must(!rdma_post_send(id, NULL, told, length, mr, 0), "rdma_post_send");
	must(send_status(id) == IBV_WC_SUCCESS, "a send");
	must(rdma_get_recv_comp(id, &wc) == 1 && wc.status == IBV_WC_SUCCESS, "a receive");
}

/* WRITE, or READ, of the first bytes of our memory; to or from there. */
static enum ibv_wc_status reach(struct rdma_cm_id *id, struct ibv_mr *mr, bool read,
				uint64_t address, uint32_t rkey)
{
	if (read)
		must(!rdma_post_read(id, NULL, memory, SIZE, mr, 0, address, rkey),
		     "rdma_post_read");
	else
		must(!rdma_post_write(id, NULL, memory, SIZE, mr, 0, address, rkey),
		     "rdma_post_write");
	return send_status(id);
}

/* Adds 1 to a word there. */
static enum ibv_wc_status add_to(struct rdma_cm_id *id, struct ibv_mr *mr, uint64_t address,
				 uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
	struct ibv_send_wr *bad_wr, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = address, .compare_add = 1, .rkey = rkey },
	};

	must(!ibv_post_send(id->qp, &wr, &bad_wr), "ibv_post_send");
	return send_status(id);
}

int main(int argc, char **argv)
{
	enum ibv_wc_status status;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	uint64_t address;
	uint32_t rkey;
	const char *how;

	if (argc != 5 || strcmp(argv[3], "-p"))
		return 2;
	how = argv[2];
	id = connect_to(argv[1], argv[4], &mr);
	memset(memory, 'm', SIZE);
	put_be(told, (uintptr_t)memory, 8);
	put_be(told + 8, SIZE, 4);
	put_be(told + 12, mr->rkey, 4);
	tell(id, mr, 16);
	address = get_be(heard, 8);
	rkey = (uint32_t)get_be(heard + 12, 4);
	if (!strcmp(how, "stale")) {
		put_be(told, 1, 8);
		tell(id, mr, 8);
	}
	if (strstr(how, "atomic"))
		status = add_to(id, mr, address, rkey);
	else
		status = reach(id, mr, strstr(how, "read"),
			       address + (strstr(how, "beyond") ? PAGE : 0),
			       rkey ^ (strstr(how, "rkey") ? 0x5500 : 0));
	/* Whose WRITE is done when TCP has taken it learns by the next request. */
	if (status == IBV_WC_SUCCESS && strcmp(how, "honest"))
		status = reach(id, mr, true, address, rkey);
	printf("%s: %s\n", how, ibv_wc_status_str(status));
	rdma_disconnect(id);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	return (status == IBV_WC_SUCCESS) != !strcmp(how, "honest");
}
