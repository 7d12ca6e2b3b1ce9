/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the independent peer (see peer.c): what its parts know of each other.
 *
 * Contract: whatever fails in them ends the process with a sentence; a refusal ends it with status 3.
 */
#ifndef PEER_H
#define PEER_H

#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>
#include <rdma/rdma_cma.h>

#define MAGIC         0x4f555231u
#define VERSION       1
#define BASE_LEN      16 /* count and size, which every client of the course sends */
#define BLAST_LEN     24 /* the same with the number of data buffers */
#define FULL_LEN      32 /* all of these with the extension */
#define CREDIT_LEN    8
#define CREDIT_RECVS  3 /* receives for credits of a blast client without the extension */
#define MAX_COUNT     1000000000ull
#define MAX_SIZE      (64ull << 20)
#define MAX_BUFFERS   4096ull
#define MAX_MEMORY    (256ull << 20)
#define GRACE_MS      1000 /* milliseconds until completions of a peer that has left are overdue */
#define DISCONNECT_MS 5000 /* milliseconds until the answer to a disconnect is overdue */
#define RESOLVE_MS    3000
#define LOST          (-1) /* a value beside those of enum ibv_wc_status, which start at 0 */
#define NEVER         UINT64_MAX
#define KIND_RECV     1 /* the upper half of a wr_id; the lower is the slot */
#define KIND_SEND     2
#define KIND_CREDIT   3

struct peer {
	/* options */
	int server, client, async, events, blast, full, abrupt, verbose; /* flags */
	int one_more;       /* a message more than was announced */
	int torn;           /* a message of which only the first half is sent */
	int die_connecting; /* it dies with the connect request sent, and no answer heard */
	uint64_t send_size; /* bytes sent in a message; 0: as announced */
	uint64_t stage;
	uint64_t one_sided; /* 1 or 3: the wire of ping-rdma-1 or -3; 0: messages */
	const char *reach;  /* a one-sided access without the right to it; or NULL */
	uint64_t greedy;    /* messages sent at once, without receives for their echoes; or 0 */
	const char *crowd;  /* the ends of many clients in this process; or NULL */
	uint64_t window;    /* clients of the crowd at a time */
	const char *addr, *port;
	uint64_t count, size, n_buf, batch, rounds;
	uint64_t leave_after, die_after; /* messages before it does this; or NEVER */
	uint64_t silent_after; /* from this message on it neither sends nor answers; or NEVER */
	uint64_t announce;     /* a client's count, whatever it does; 0: as many as it makes */
	uint64_t depth;        /* READs and atomic operations at a time */
	uint64_t rnr_retries;  /* retries of the other end if we have no receive; 7: any number */
	uint64_t accept_data;  /* bytes that a server says when it accepts */
	int refuses;           /* a server refuses, with --raw-private */
	uint64_t short_by;     /* one-sided: bytes that the announced buffer lacks */
	uint64_t count_off;    /* one-sided: messages that it adds to its count */
	int short_count;       /* one-sided: the count has four bytes, with zeros behind */
	const char *memory; /* one-sided: what its server's buffer shows, see memory.c; or NULL */
	int talks;          /* one-sided: it listens to the lines of talk-rdma-0 */
	uint64_t timeout;   /* the limit in seconds */
	uint64_t sleep_ms;  /* until a blast client looks for credits that it lacks */
	uint8_t raw_data[255];
	size_t raw_len;
	bool raw;
	/* connection */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *id;
	uint8_t request[255]; /* server: the client's private data */
	size_t request_len;
	bool left; /* the other end disconnected */
	int64_t left_at;
	/* transfer */
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *mem;
	uint64_t slots;        /* data slots in mem */
	uint64_t credit_slots; /* 8-byte slots for credits, after the data slots */
	bool armed;
	unsigned int cq_events;
	uint32_t rx_len;
};

/* Both take a format literal. */
#define note(...) (fprintf(stderr, "peer: note: " __VA_ARGS__), fputc('\n', stderr))
#define die(...)  (fprintf(stderr, "peer: " __VA_ARGS__), fputc('\n', stderr), exit(1))

#define COUNTER_LEN 24 /* bytes of three words, for count-atomic-1 */
#define PAUSE_US    50 /* between two looks at memory */
#define OPEN_SLOT   0  /* memory that the other end may access */
#define OWN_SLOT    1

struct remote {
	uint64_t address;
	uint32_t length, rkey;
};

enum way {
	SILENT,   /* sound requests; once connected, not a word */
	NONSENSE, /* private data that nobody understands */
	HALF,     /* sound requests; what the server answers is not acknowledged */
	NO_WAY,
};

/* link.c */
void must(bool ok, const char *call);
int64_t now_ms(void);
void put64(uint8_t *at, uint64_t value);
uint64_t get_be(const uint8_t *at, int bytes);
void mark_left(struct peer *p);
__attribute__((noreturn)) void refused(const struct rdma_cm_event *ev);
void take_event(struct peer *p);
struct rdma_cm_event *expect_event(struct peer *p, enum rdma_cm_event_type want);
void step(struct peer *p, int ret, const char *call, enum rdma_cm_event_type want);
bool readable(int fd, int timeout_ms);
uint8_t *slot(struct peer *p, uint64_t i);
uint8_t *credit_slot(struct peer *p, uint64_t i);
void post_recv(struct peer *p, uint64_t i, bool credit);
int try_send(struct peer *p, int kind, uint64_t i, uint8_t *at, uint32_t length);
void post_send(struct peer *p, int kind, uint64_t i, uint8_t *at, uint32_t length);
void set_up_transfer(struct peer *p);
void tear_down(struct peer *p);

/* messages.c */
void rest(struct peer *p);
__attribute__((noreturn)) void die_lost(const struct peer *p, int status, uint64_t done);
int await(struct peer *p, bool recv, bool send);
void maybe_fall_silent(const struct peer *p, uint64_t done);
void greedy_client(struct peer *p);
void torn_client(struct peer *p);
void ping_client(struct peer *p);
void ping_server(struct peer *p);
void blast_client(struct peer *p);
void blast_server(struct peer *p);
void disconnect(struct peer *p);

/* memory.c */
const struct memory *find_memory(const char *name);
void fill_memory(const struct peer *p, uint8_t *at);
void change_memory(const struct peer *p, uint8_t *at);

/* one_sided.c */
void awaited(const struct peer *p, int status, uint64_t done);
void tell_buffer(struct peer *p);
struct remote heard_buffer(struct peer *p);
void tell_count(struct peer *p, uint64_t count);
void check_count(struct peer *p, uint64_t wanted);
void reach(struct peer *p, enum ibv_wr_opcode opcode, const struct remote *remote, uint64_t done);
void one_sided_client(struct peer *p);
__attribute__((noreturn)) void reaching_client(struct peer *p);
void one_sided_server(struct peer *p);

/* talk.c */
void talker(struct peer *p);

/* crowd.c */
enum way find_way(const char *name);
void crowd_clients(struct peer *p, enum way way, struct sockaddr *to);

/* options.c */
void parse(struct peer *p, int argc, char **argv);

#endif
