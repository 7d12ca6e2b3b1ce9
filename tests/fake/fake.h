/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the interface for code that runs a program over them. Contract: the runner
 * fills in the config, forks, calls fake_start and then the program's main. When that process has
 * ended, the report tells what happened in it. Config and report are in memory that the two
 * processes share.
 */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_TWO_ADDRESSES "two.example" /* a name that has 127.0.0.1 and 127.0.0.2 */

/* The address of a client over TCP, as getpeername(2) tells it. */
#define FAKE_PEER4     "192.0.2.77"
#define FAKE_PEER6     "2001:db8::77"
#define FAKE_PEER_PORT 40123

#define FAKE_EXIT_LEDGER 97 /* exit status if the ledger has complaints */

/* When completions, messages and events reach the program. */
enum fake_delivery {
	FAKE_AT_ONCE,   /* within the call that causes them: every run is the same */
	FAKE_WILD,      /* now or later, in any order, with false alarms; the seed decides */
	FAKE_BY_THREAD, /* from another thread, while the program continues */
};

/* The records that a program reads. */
enum fake_records {
	FAKE_IN_TURNS,     /* whole ones, and torn ones of every kind */
	FAKE_NO_WHOLE,     /* it changes all the time, so each copy is torn */
	FAKE_SAME_NUMBERS, /* the second one is torn, and has the same number twice; the sum is wrong */
	FAKE_ALL_BUT_BYTES, /* ... and the sum is right, too */
	FAKE_OLDER,         /* the third one is older than the second */
};

/* The lock, for a program that counts with a lock. Another client writes 0x77 there. */
enum fake_lock {
	FAKE_FREE,
	FAKE_TAKEN,   /* by another client, for a while; */
	FAKE_KEPT,    /* ... forever; a client that counts does not release it */
	FAKE_STOLEN,  /* another client takes it while the program has it, */
	FAKE_IGNORED, /* or counts without it */
};

/* The device, port and GID that a program without the CM must use, and its MTU: machines.h. */
struct fake_way {
	unsigned int device, port, gid_index,
		mtu; /* bytes; port 0: those that there is no choice of */
};
struct fake_machine;

struct fake_config {
	bool iwarp;       /* exact private data, no RNR timer, a flush when the peer leaves */
	bool blast;       /* peers that are clients stream; otherwise they ping */
	bool one_sided;   /* ... or WRITE and READ */
	bool spins;       /* with one_sided: both write, and poll memory */
	bool immediate;   /* with spins: they WRITE with immediate data, and poll no memory */
	bool one_side;    /* ... and the program does not */
	bool numbered;    /* with spins: the program waits for a number, and clears no memory */
	bool counts;      /* with one_sided: by atomic operations */
	bool only_writes; /* with one_sided: the client writes, and no side reads */
	bool publishes;   /* with one_sided: one side changes a record, and the other reads it, */
	bool pushes;      /* ... or the first WRITEs it to the other */
	enum fake_records records; /* with publishes: the records of a server */
	bool reads;                /* with only_writes: it READs instead */
	bool verified; /* ... or with blast: each message has its own data: the program has -v */
	bool locks;    /* with counts: a client of the program uses the lock */
	enum fake_lock lock;
	uint32_t words; /* ... and the server has this many; 0: three */
	bool bad_mark;  /* with talks: the peer's first line does not fit; it takes no line */
	bool talks;     /* with one_sided: both write lines, and read them back */
	bool piecemeal; /* a line feed on stdin comes after what is before it; TCP, byte by byte */
	bool full_stdout;     /* nothing can be written to the program's stdout */
	uint64_t period_ns;   /* with publishes: of the changes of the program's record; 0: any */
	bool program_serves;  /* with one_sided: the program is a server */
	bool recv_first;      /* a receive completes before the send that it answers */
	unsigned int clients; /* of a server; one that is not accepted is replaced */
	bool nobody;          /* ... there is none, also in a row that has one otherwise */
	unsigned int
		in_turn; /* ... one, and this many more each time when one of them has ended; 0: all */
	bool stays;      /* ... the first says nothing, and stays; it does not count for in_turn */
	unsigned int enough; /* ... but the server wants only this many; 0: all */
	bool no_other;       /* clients that are not accepted are not replaced, */
	bool flood;          /* or each of them is, at once, forever */
	uint64_t count;      /* messages that each client sends, */
	uint32_t size;       /* and their length in bytes */
	uint32_t buffers;    /* of each side of a stream, */
	uint32_t chain;      /* and how many messages the program posts at once; 0: its default */
	bool one_file;       /* a program of one file: its alarm(2) takes a hundredth of its time */
	bool example; /* its server is told to stop when it sleeps forever, and knows no length */
	bool catches_none; /* it has no signal handler: nothing interrupts its calls */
	uint64_t tick_us;  /* the time that reading the clock takes */
	bool hurried;      /* an empty poll of a CQ takes a millisecond of the program's clock */
	const char *slow_call; /* each call with this name takes slow_s seconds of it; NULL: none */
	unsigned int slow_s;
	/* Clocks that the test controls: known_time.c. Only what is listed here takes time. */
	uint64_t known_us;     /* a message from a peer; 0: the clocks are real */
	uint64_t spread_us;    /* ... and a random time less than this more; 0: none */
	uint64_t late_message; /* this one, counted from 1, takes late_us instead; 0: none */
	uint64_t late_us;
	uint64_t look_us; /* an empty poll when no message is on its way; 0: KNOWN_LOOK_US */
	enum fake_delivery delivery;
	unsigned int seed;
	unsigned int fault_call;   /* the call that fails, counted from 1; 0: none does */
	unsigned int fault_choice; /* which of the ways in which it can fail */
	const char *fault_name;    /* ... or the call with this name; NULL: none */
	unsigned int fault_nth;    /* counted from 1; 0: each of them */
	const char *fault_way;     /* NULL: the first way */
	unsigned int stray_call;   /* the call at which stray_event comes to all ids; 0: none */
	bool stray_unreachable;    /* UNREACHABLE, as if a peer had moved; else ADDR_CHANGE */
	unsigned int stop_call;    /* at which a signal tells the program to stop; 0: none */
	const char *stop_name;     /* ... or the first call with this name; NULL: none */
	bool stop_done;            /* ... but only when all peers have everything */
	bool insists; /* ... and again while it waits for the answer to its disconnect request */
	/* Peers that misbehave. */
	uint64_t silent_after; /* after receiving this many messages they send nothing more; */
	uint64_t silent_later; /* ... each client this many messages after the one before */
	bool dead;             /* ... and their host has died then, */
	bool unacknowledged;   /* or before it acknowledged the last of these messages */
	uint32_t short_by;     /* bytes that a one-sided peer's memory lacks */
	bool no_reads;         /* RDMA READs were not agreed upon, */
	bool only_ours, only_the_peers; /* or only one side's; which one a driver may confuse */
	bool has_async;        /* when one becomes silent, this asynchronous event comes: */
	int async_event;       /* enum ibv_event_type */
	bool drained_first;    /* ... after one that nobody need know */
	uint64_t leaves_after; /* after this many messages a server leaves; */
	uint64_t quits_after;  /* ... a client leaves, before it is done; */
	bool keeps_receive; /* ... in the middle of a message: its QP keeps a receive of the pool */
	uint64_t stops_after; /* ... a signal tells the program to stop */
	uint64_t garbles;     /* the message, from 1, that a server sends back changed; 0: none */
	bool garbles_first;   /* ... in its first byte, not in its last */
	bool idle;            /* a client sends none, and says so */
	bool deaf;            /* a server does not answer a connect request, */
	bool answers_late;    /* ... until the program has given up, and then leaves, */
	bool takes_back;   /* or takes its answer back: the rejection comes when it is accepted */
	bool mute;         /* no peer answers a disconnect request */
	bool wordless;     /* no client says where its buffer is */
	bool returns_rest; /* a server returns the rest of its credits if no message comes */
	bool withholds;    /* a server returns all credits at once, when it has all messages */
	uint32_t ahead;    /* a client sends this many messages before it waits for an answer */
	uint32_t overtake; /* this many more arrive after a send has failed, before its QP fails */
	bool short_pool;   /* a message may find no receive, and then waits for one */
	bool unlimited;    /* a client does not say how many messages it will send, */
	bool one_more;     /* or sends one more than it said, */
	bool short_count;  /* one-sided: tells its count in four bytes, with zeros behind */
	bool lingers;      /* or stays connected when it has everything */
	bool uneven;       /* each client sends ten messages more than the one before, */
	uint32_t grows;    /* and its messages are this many bytes longer */
	bool stranger;     /* without the suite's extension, and slow: strangers.c */
	/* What they send when a connection is made: connect_data.c. All in hexadecimal. */
	const char *extension;            /* of a client, instead of the suite's; */
	bool cut_short;                   /* the data of a client ends after cut_at bytes */
	unsigned int cut_at, accept_data; /* ... a server sends this many bytes of data */
	const char *refusal;              /* a server refuses, with this data */
	/*
	 * Of peers over TCP, when a program connects without the CM: exchange.c. Of several
	 * clients, only the first is like that.
	 */
	const char *tells;         /* instead of its line; */
	const char *confirms;      /* a client, instead of "done"; */
	bool untold, unconfirmed;  /* it says neither, and stays; */
	bool hangs_up;             /* ... or closes the connection then, */
	bool hurries;              /* or as soon as it has told its line */
	bool capitals;             /* its digits are upper-case */
	bool no_gid;               /* it tells a GID of zeros, */
	unsigned int lid;          /* and this LID */
	bool closes_tcp;           /* it closes TCP when both are connected, and goes on; */
	uint64_t closes_after;     /* ... when it has received this many messages */
	unsigned int pauses;       /* with known_us: a message takes this many empty polls, too */
	unsigned int refused_late; /* this many connections are refused while the program waits */
	bool remains;              /* of a server's earlier connections, at its port */
	bool ipv6;                 /* all addresses are */
	uint16_t port;             /* of the server, which the program has to use; 0: any */
	int rtr_error;             /* the peer's address cannot be reached */
	const char *mistake;       /* that the program makes in RTR, which then fails */
	const struct fake_machine *machine; /* NULL: one device with one port */
	struct fake_way way;
	/* Completions and events that come late, or without need. */
	bool late_sends;         /* a send is completed only after an empty poll, */
	unsigned int late_after; /* ... or this many; 0: one */
	bool in_order;           /* the first half of a WRITE comes first, not the last half */
	bool slow_events;        /* an event of a CQ comes one sleep after its completion */
	bool own_lines;          /* a receive has its cache lines for itself */
	bool while_asleep; /* a completion that makes an event comes when the program sleeps */
	bool cannot_send;  /* sends to a peer that leaves fail, on iWARP */
	bool late_gone; /* the event that the peer has left comes late, when the program waits, */
	unsigned int late_s; /* ... and has waited for this many seconds */
	bool timewait;       /* RDMA_CM_EVENT_TIMEWAIT_EXIT comes, and too early */
	/* The machine */
	unsigned int devices;     /* each connection is on the next one of them; 0: there is one */
	unsigned int descriptors; /* that a process may have, at most; 0: as many as it likes */
	bool no_device;           /* no device serves the address that a server is to listen on, */
	bool no_device_first;     /* or the first of its addresses */
	/* The limits of each device: limits.c. 0: more than other tests need. */
	uint32_t max_message, max_inline;
	unsigned int max_cqe, max_qp_wr, max_sge, max_qp_rd_atom, max_qp_init_rd_atom;
	bool exact_inline; /* a QP is granted as many inline bytes as it asks for; otherwise more */
	bool no_inline;    /* ... or none, however many it asks for: rdmavt (hfi1, qib) */
};

/* What the program has to do about a failure. */
enum fake_expected {
	FAKE_FAILS,       /* exit status 1, and a message */
	FAKE_FAILS_LATER, /* the same, but it fails at a later call, and this one is not named */
	FAKE_TEAR_DOWN,   /* a message; the work is done, so the exit status may be 0 or 1 */
	FAKE_RECOVERS,    /* the program has another way; nothing, if it does all of its work */
};

#define FAKE_NAME     48
#define FAKE_LAST     16
#define FAKE_TEXT     4096
#define FAKE_ALL_DONE (report->done == report->peers)

/* How often the program has polled for completions, what it found, and how often it slept. */
struct fake_looks {
	uint32_t polls, empty_polls, completions, ppolls, cq_events;
};
#define FAKE_NOTED 1024

struct fake_report {
	bool one_file, example;     /* as configured */
	unsigned int calls;         /* those that can fail */
	bool hit;                   /* the fault_call was reached, and can fail in the chosen way */
	unsigned int choices;       /* the number of ways in which that call can fail */
	bool struck;                /* ... and the program could notice it */
	bool stopped;               /* the signal was sent: from then on the peers are silent */
	unsigned int refused;       /* why a client was refused: docs/protocol.md; 0: no reason */
	unsigned int refused_first; /* ... the first that was */
	bool refused_late;          /* when no other client was connected, or about to be */
	bool strayed;               /* an id got the stray event */
	bool disconnects;           /* the program has disconnected one of its ids, */
	bool insisted;              /* and was told to stop for the second time */
	bool last_word;             /* ... it could not notice it: this was the last message */
	bool hit_after;             /* ... after all peers had everything */
	enum fake_expected expected;
	bool peers_doing;      /* and it is not a failure of the server itself */
	bool serves;           /* the program is a server: its peers are clients */
	int wc_status;         /* of the completion that failed; 0: none did */
	char call[FAKE_NAME];  /* the call that failed, */
	char fault[FAKE_NAME]; /* in which way, */
	char says[FAKE_NAME];  /* and what else the message must contain */
	unsigned int peers;    /* that the program had a connection with, */
	unsigned int done;     /* and those that got everything, each byte right */
	/* What happened to completions and armed CQs, for tests that depend on it. */
	unsigned int completions, received_first, held, armed, before_arming, spurious_events;
	unsigned int late_sends, signaled, inlined;
	unsigned int longest;          /* chain of work requests in one call */
	unsigned int pieces;           /* of a message, at most */
	unsigned int low_events;       /* of SRQs */
	unsigned int armed_early;      /* with fewer receives than twice the limit */
	unsigned int low_unread;       /* events of SRQs that ended with them */
	unsigned int comp_channels;    /* at a time, at most */
	unsigned int asked;            /* requests that move no byte */
	unsigned int periods;          /* between changes of the program's record */
	_Atomic uint64_t skipped_ns;   /* by which the program's clock was advanced */
	unsigned int waits_for_thread; /* milliseconds, see fake_wait_for_thread */
	/* With known_us */
	_Atomic uint64_t known_messages,
		known_calls;    /* what has used CPU time so far: known_time.h */
	uint64_t known_last_ns; /* when the last of these messages came */
	struct fake_looks looks, noted[FAKE_NOTED]; /* ... when that receive, from 0, was polled */
	unsigned int receives;                      /* receives that were polled */
	unsigned int complaints;                    /* reports of the ledger, and their text */
	char text[FAKE_TEXT];
	char last[FAKE_LAST][FAKE_NAME]; /* calls: a ring; the newest is calls_seen - 1 */
	unsigned int calls_seen;
	unsigned int woken; /* sleeps that a signal ended, until a completion: the most */
	/*
	 * What talkers said, as the program has to print it; said_length also counts what does not
	 * fit.
	 */
	bool talks;
	char said[FAKE_TEXT];
	size_t said_length;
	/* The limit that a refused client was told. */
	uint64_t refused_limit;
};

#define FAKE_MOST_TYPED (1 << 18) /* bytes */

/* Makes the lines that a program that talks gets on stdin. Returns the length, at most `size`. */
size_t fake_typed(uint64_t lines, char *text, size_t size);

/* Starts the fake in this process; `config` and `report` still belong to the runner. */
void fake_start(const struct fake_config *config, struct fake_report *report);

/* To be called when the program has ended, once. Returns false if the ledger has complaints. */
bool fake_stop(void);

#endif
