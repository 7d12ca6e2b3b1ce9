/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: runs of a program that rows of a table describe. Contract: the run must
 * be as the row says, and in any case nothing may be left behind.
 */
#ifndef FAKE_LINES_H
#define FAKE_LINES_H

#include <limits.h>
#include <stddef.h>

#include "tests/fake/tests.h"

#define LINE_WORDS    20
#define LINE_MESSAGES 20 /* unless its config says otherwise */
#define LINE_SIZE     200
#define LINE_BUFFERS  8
#define NONE          UINT32_MAX

/* Which programs a row is for: one of each of the first two groups, and what else is named. */
enum {
	CLIENT = 1 << 0,
	SERVER = 1 << 1,
	PING = 1 << 2,
	BLAST = 1 << 3,
	RDMA = 1 << 13, /* WRITE and READ */
	TWO_SIDED = PING | BLAST,
	EVERY = CLIENT | SERVER | PING | BLAST | RDMA,
	REFUSING = 1 << 4,      /* a server that may refuse clients */
	BELIEVING = 1 << 5,     /* ... or one that is told what they are going to send */
	WATCHING = 1 << 6,      /* notices a peer that leaves */
	SLEEPING = 1 << 8,      /* until a completion comes */
	ALONE = 1 << 9,         /* has one thread */
	THREADED = 1 << 10,     /* ... or more */
	SYNCHRONOUS = 1 << 11,  /* its CM calls block */
	BLIND = 1 << 12,        /* does not notice it */
	POOLED = 1 << 14,       /* all have them together */
	OWN_RECEIVES = 1 << 15, /* each connection has */
	READING = 1 << 17,      /* its client READs */
	REACHED = 1 << 18,   /* its memory is, and it does not see that: on iWARP it may not READ */
	ASKING = 1 << 28,    /* any other */
	SPINNING = 1 << 16,  /* looks at memory until a message is there */
	SIZED = 1 << 19,     /* the user says how long a message is, and a server takes any */
	COUNTED = 1 << 20,   /* ... how many there are, or for how long */
	QUIET = 1 << 21,     /* when the peer's program says nothing nothing completes */
	RECORDS = 1 << 22,   /* one side changes a record */
	WRITTEN = 1 << 23,   /* ... and WRITEs it */
	TALKING = 1 << 24,   /* both write lines */
	COUNTING = 1 << 25,  /* it counts, or lets count, in the server's memory */
	STREAMING = 1 << 26, /* a stream, of WRITEs, or of READs */
	MEASURED = 1 << 29,  /* of what moves nothing but the test's clock makes it last */
	CROWDED = 1 << 27,   /* a server serves many at a time */
};

#define NONE_INLINE UINT_MAX

#define ADDRESS "-a", "127.0.0.1"
#define WORK    ADDRESS, "-c", "20", "-s", "200"

struct line {
	const char *what;
	unsigned int who;
	struct fake_config config;
	int status;
	bool clients_doing;            /* a server's status is 0 nevertheless */
	const char *said;              /* on stderr; NULL: nothing at all is */
	bool once;                     /* ... in the only line there is */
	unsigned int done;             /* peers that get all they want; 0: no matter how many */
	unsigned int refused;          /* the reason of the last client that was; 0: no matter */
	uint64_t limit;                /* ... and the limit that it was told; 0: no matter */
	unsigned int signaled;         /* sends; 0: no matter */
	unsigned int inlined;          /* sends, likewise; NONE_INLINE: none is to be */
	unsigned int asked;            /* requests that move no byte, at least; NONE: none */
	unsigned int most_asked;       /* and at most; 0: any number */
	bool low;                      /* at least once some SRQ was */
	unsigned int most_calls;       /* 0: no matter */
	unsigned int most_s;           /* seconds that it slept, by its clock; 0: no matter */
	unsigned int least_s;          /* ... at least; a second may have passed besides */
	const char *last;              /* the program's last call; NULL: no matter */
	const char *words[LINE_WORDS]; /* without those that the program does not take */
};

/* Whether what is for `who` is for the program. */
bool line_is_for(unsigned int who, const struct test *test);

/* Runs those that are for the program. */
void run_lines(const struct test *test, const struct line *lines, size_t n);

#endif
