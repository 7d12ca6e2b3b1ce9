/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: runs of a program that rows of a table describe. Contract: the run must
 * be as the row says, and nothing may be left behind in any case.
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
#define IF_CLIENT     (-1) /* as an exit status: a server's is 0, because a client has done it */
#define NO_LIMIT      UINT64_MAX

/*
 * The programs that a row is for: one of each of the first two groups, with all further properties
 * that are named.
 */
enum {
	CLIENT = 1 << 0,
	SERVER = 1 << 1,
	PING = 1 << 2,
	BLAST = 1 << 3,
	RDMA = 1 << 13, /* WRITE and READ */
	TWO_SIDED = PING | BLAST,
	EVERY = CLIENT | SERVER | PING | BLAST | RDMA,
	REFUSING = 1 << 4,      /* a server that may refuse clients */
	BELIEVING = 1 << 5,     /* ... or one that is told by its user */
	WATCHING = 1 << 6,      /* notices that a peer leaves */
	MANAGED = 1 << 7,       /* connects by the connection manager (CM) */
	SLEEPING = 1 << 8,      /* while it waits for a completion */
	ALONE = 1 << 9,         /* has one thread */
	THREADED = 1 << 10,     /* ... or several */
	SYNCHRONOUS = 1 << 11,  /* its CM calls block */
	BLIND = 1 << 12,        /* does not notice that a peer leaves */
	POOLED = 1 << 14,       /* its connections share their receives */
	OWN_RECEIVES = 1 << 15, /* each connection has its own */
	READING = 1 << 17,      /* its client READs */
	REACHED = 1 << 18,   /* its memory is, and it does not see that: on iWARP it may not READ */
	ASKING = 1 << 28,    /* any other program */
	SPINNING = 1 << 16,  /* polls memory until a message is there */
	SIZED = 1 << 19,     /* the user sets the length of a message, and a server takes any */
	COUNTED = 1 << 20,   /* ... and the number of messages, or the time */
	QUIET = 1 << 21,     /* when the peer's program sends nothing, nothing completes */
	RECORDS = 1 << 22,   /* one side changes a record */
	WRITTEN = 1 << 23,   /* ... and WRITEs it */
	TALKING = 1 << 24,   /* both write lines */
	COUNTING = 1 << 25,  /* it counts in the server's memory, or its clients do */
	STREAMING = 1 << 26, /* a stream, of WRITEs, or of READs */
	MEASURED = 1 << 29,  /* a run without messages lasts as long as the test's clock says */
	CROWDED = COUNTED,   /* a server serves many clients at a time */
	ANSWERED = 1 << 27,  /* what a client sends comes back, or it READs it */
	LOOKING = 1 << 30,   /* looks for a while before it sleeps */
};

#define NONE_INLINE UINT_MAX

#define ADDRESS "-a", "127.0.0.1"
#define WORK    ADDRESS, "-c", "20", "-s", "200"

/* In a config: the call fails, the one with this number or, if that is 0, each; NULL: in its first way. */
#define FAULT(call, nth, way) .fault_name = (call), .fault_nth = (nth), .fault_way = (way)

/* Unless config says otherwise, a server has one client. */
struct line {
	const char *what; /* NULL: the end of the table */
	unsigned int who;
	struct fake_config config;
	int status;           /* or IF_CLIENT */
	const char *said;     /* on stderr, in the only line there; NULL: stderr is empty */
	bool more;            /* ... or in one of several lines */
	const char *printed;  /* on stdout; NULL: not checked */
	unsigned int done;    /* peers that get everything, or NONE; 0: see peers_due in lines.c */
	unsigned int refused; /* why the last client was refused; 0: not checked */
	unsigned int refused_first; /* ... and why the first; 0: not checked */
	uint64_t limit;       /* ... and the limit that it was told; 0: not checked; NO_LIMIT: 0 */
	unsigned int longest; /* chain of work requests; 0: not checked */
	unsigned int pieces;  /* of a message; 0: not checked */
	unsigned int least_looks; /* polls that find nothing */
	bool never_looks;         /* ... before a sleep only the two that it needs */
	unsigned int signaled;    /* signaled sends; 0: not checked */
	unsigned int inlined;     /* inline sends; 0: not checked; NONE_INLINE: none */
	unsigned int asked;       /* requests that move no byte, at least; NONE: none */
	unsigned int most_asked;  /* and at most; 0: any number */
	bool low; /* an SRQ must be low, its limit never armed too early, and its events read */
	unsigned int channels;   /* of completions, at a time; 0: not checked */
	unsigned int most_calls; /* 0: not checked */
	unsigned int most_s;     /* seconds that it slept, by its clock; 0: not checked */
	unsigned int least_s;    /* ... at least, with all other time of its run */
	unsigned int woken;      /* by its alarm, in one wait; 0: not checked */
	const char *last;        /* the program's last call; NULL: not checked */
	/* Those that the program does not accept are left out. None: WORK, "-q" */
	const char *words[LINE_WORDS];
	/* Only of figures_runs and figures_ends, whose `words` come behind -a, -c, -s, and -b: expect.h */
	uint64_t arrivals;  /* messages from the peer (credits, for blast); 0: all that are due */
	bool fails_at_last; /* ... of which the last one does not count */
	bool unlimited;     /* no -c: the run lasts for a time */
	uint64_t rate;      /* messages a second; 0: no limit */
	bool verified;
	bool ends_only;   /* only `verified` and `complete` are compared */
	uint64_t tail_us; /* how long it may not notice that this was the last message */
	unsigned int sleeps_a_message; /* at most, if it sleeps; 0: any number */
};

/* Whether the server believes that its clients were started as itself: nothing tells it otherwise. */
bool fake_believes(void);

/* Whether a row for `who` is for this program. */
bool line_is_for(unsigned int who, const struct test *test);

/* Runs the rows that are for this program. */
void run_lines(const struct test *test, const struct line *lines);

/* The same, and compares what the program has measured, as JSON, with what it must have. */
void run_measured(const struct test *test, const struct line *lines);

extern const struct line figures_runs[], figures_ends[];

/*
 * Each in the file of its name; the last two are for ping-rc-0, one_file for ping-ep-0, and example_lines
 * for examples/.
 */
extern const struct line edges[], command_lines[], private_data[], odd_peers[], arrivals[],
	silence[], pools[], memories[], one_file[], example_lines[], bare_devices[], bare_peers[];

#endif
