/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the interface for those who run a program over them. Contract: the runner
 * fills in the config, forks, calls fake_start and then the program's main. When that process has
 * ended, the report tells what happened in it. Both are in memory that the two processes share.
 */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_TWO_ADDRESSES "two.example" /* a name that has 127.0.0.1 and 127.0.0.2 */

#define FAKE_EXIT_LEDGER 97 /* the program's own exit status did not matter: the ledger complains */

/* When what the hardware and the network bring reaches the program. */
enum fake_delivery {
	FAKE_AT_ONCE,   /* within the call that causes it: every run is the same */
	FAKE_WILD,      /* now or later, in any order, with false alarms: as the seed has it */
	FAKE_BY_THREAD, /* by a thread, while the program goes on */
};

/* What a program that reads a record gets of it. */
enum fake_records {
	FAKE_IN_TURNS,     /* whole ones, and torn ones of every sort */
	FAKE_NO_WHOLE,     /* it is always being changed */
	FAKE_SAME_NUMBERS, /* the second one is torn, and has the same number twice; the sum is wrong */
	FAKE_ALL_BUT_BYTES, /* ... and the sum is right, too */
	FAKE_OLDER,         /* the third one is older than the second */
};

/* Of the lock of a program that counts with one. Who else has it has 0x77 there. */
enum fake_lock {
	FAKE_FREE,
	FAKE_TAKEN,   /* by somebody else, for a while; */
	FAKE_KEPT,    /* ... for ever; a client that counts does not give it back */
	FAKE_STOLEN,  /* somebody else has it at last, */
	FAKE_IGNORED, /* or counts without it */
};

struct fake_config {
	bool iwarp;       /* exact private data, no RNR timer, a flush when the peer leaves */
	bool blast;       /* the peers that are clients stream; else they ping */
	bool one_sided;   /* ... or WRITE and READ */
	bool spins;       /* of one_sided: both write, and look at memory */
	bool immediate;   /* of spins: they WRITE with immediate data, and look at no memory */
	bool one_side;    /* ... and the program does not */
	bool numbered;    /* of spins: the program looks for a number, and clears nothing */
	bool counts;      /* of one_sided: by atomic operations */
	bool only_writes; /* of one_sided: the client writes, and no side reads */
	bool publishes;   /* of one_sided: one side changes a record, and the other reads it, */
	bool pushes;      /* ... or is written to */
	enum fake_records records; /* of publishes: how a server shows its record */
	bool reads;                /* of only_writes: it READs instead, */
	bool locks;                /* of counts: a client of the program's does so with the lock; */
	enum fake_lock lock;
	uint32_t words; /* ... and the server has so many; 0: three */
	bool bad_mark; /* of talks: the peer's first line is longer than there is room; it takes none */
	bool talks;          /* of one_sided: both write lines, and read them back */
	bool program_serves; /* of one_sided: it is a server */
	bool recv_first;     /* a receive completes before the send that it answers */
	unsigned int
		clients;     /* that connect to a server; and one for one that it does not accept */
	unsigned int enough; /* ... but for a server that wants no more than so many; 0: all */
	bool no_other;       /* no client replaces one that is not accepted */
	uint64_t count;      /* messages that each of them sends, */
	uint32_t size;       /* of so many bytes */
	uint32_t buffers;    /* of each side of a stream */
	bool one_file;       /* a program of one file: a second of its alarm(2) is a hundredth */
	uint64_t tick_us;    /* each look at the clock takes so long */
	bool hurried;        /* an empty poll of a CQ takes a millisecond of the program's clock */
	/* The test controls the clocks: known_time.c. Only what is listed here takes time. */
	uint64_t known_us;     /* a message from a peer; 0: the clocks are real */
	uint64_t spread_us;    /* ... and less than so much more, each another time; 0: no more */
	uint64_t late_message; /* this one, from 1, takes late_us instead; 0: none */
	uint64_t late_us;
	uint64_t look_us; /* an empty poll when no message is on its way; 0: KNOWN_LOOK_US */
	enum fake_delivery delivery;
	unsigned int seed;
	unsigned int fault_call;   /* the call that fails, counted from 1; 0: none does */
	unsigned int fault_choice; /* in which of the ways that it can fail */
	const char *fault_name;    /* ... or the call of this name; NULL: none */
	unsigned int fault_nth;    /* counted from 1; 0: each of them */
	const char *fault_way;     /* NULL: the first that there is */
	unsigned int stray_call;   /* at which stray_event comes to all ids; 0: at none */
	bool stray_unreachable;    /* UNREACHABLE, as if a peer had moved; else ADDR_CHANGE */
	unsigned int stop_call;    /* at which a signal asks the program to stop; 0: at none */
	const char *stop_name;     /* ... or the first of this name; NULL: none */
	bool stop_done;            /* ... but not before all peers have what they want */
	bool insists; /* ... and once more when it waits for the answer to its disconnect request */
	/* Peers that are not as they should be. */
	uint64_t silent_after; /* having heard so many messages they say nothing any more */
	bool dead;             /* ... and their host has died a message before */
	bool no_reads;         /* RDMA READs were not agreed upon */
	bool has_async;        /* when one falls silent, this asynchronous event comes: */
	int async_event;       /* enum ibv_event_type */
	uint64_t leaves_after; /* likewise, a server leaves */
	uint64_t quits_after;  /* likewise, a client, that is not done; */
	uint64_t stops_after;  /* ... or a signal asks the program to stop */
	uint64_t garbles;      /* which message a server sends back changed, from 1; 0: none */
	bool deaf;             /* a server does not even answer to a connect request */
	bool mute;             /* no peer answers a disconnect request */
	bool returns_rest;     /* a server returns the rest of its credits when no message comes */
	bool withholds;        /* a server returns all credits at once, when it has all messages */
	uint32_t ahead;        /* a client sends so many messages before it waits for the first */
	bool short_pool;       /* a message may meet no receive, and waits for one */
	bool unlimited;        /* a client does not say how many messages it will send, */
	bool one_more;         /* or sends one more than it said, */
	bool lingers;          /* or stays when it has everything; */
	bool uneven;           /* each sends ten more than the one before */
	bool stranger;         /* without our extension, and slow: strangers.c */
	/* What they say when a connection is made: connect_data.c. All in hexadecimal. */
	const char *extension;            /* of a client, in place of ours; */
	bool cut_short;                   /* what it says ends after cut_at bytes */
	unsigned int cut_at, accept_data; /* ... a server says so many bytes of its own */
	const char *refusal;              /* a server refuses, with this */
	/* Completions and events that are late, or of no use. */
	bool late_sends;   /* a send is completed only after an empty poll */
	bool while_asleep; /* a completion that makes an event comes when the program sleeps */
	bool cannot_send;  /* to a peer that leaves: what is under way to it fails, on iWARP */
	bool late_gone;    /* that the peer has left is told when the program waits for some time */
	bool timewait;     /* RDMA_CM_EVENT_TIMEWAIT_EXIT comes, and too early */
	/* The machine */
	unsigned int devices; /* each connection is on another one of them; 0: there is one */
	bool no_device;       /* none is behind the address that a server is to listen on, */
	bool no_device_first; /* or the first of them */
	/* What each device can do: limits.c. 0: more than other tests ask for. */
	uint32_t max_message, max_inline;
	unsigned int max_cqe, max_qp_wr, max_sge;
	bool exact_inline; /* a QP is granted as many bytes as it asks for; else some more */
};

/* What a failure asks of the program. */
enum fake_expected {
	FAKE_FAILS,       /* exit status 1, and a message */
	FAKE_FAILS_LATER, /* the same, but it shows in what follows, and the call is not named */
	FAKE_TEAR_DOWN,   /* a message; the work was done before, so the exit status is free */
	FAKE_RECOVERS,    /* the program has a way out: if it does all of its work, nothing else */
};

#define FAKE_NAME     48
#define FAKE_LAST     16
#define FAKE_TEXT     4096
#define FAKE_ALL_DONE (report->done == report->peers)

/* How often the program has looked for completions, what it found, and how often it slept. */
struct fake_looks {
	uint32_t polls, empty_polls, completions, ppolls, cq_events;
};
#define FAKE_NOTED 1024

struct fake_report {
	bool one_file;        /* as configured */
	unsigned int calls;   /* that could have failed */
	bool hit;             /* the fault_call was reached, and had a fault_choice */
	unsigned int choices; /* in how many ways that call can fail */
	bool struck;          /* ... and the program has been able to notice */
	bool stopped;         /* the signal has come: from then on the peers are silent */
	unsigned int refused; /* a client, with this reason: docs/protocol.md; 0: with none */
	bool refused_late;    /* when no other was connected, or about to be, any more */
	bool strayed;         /* an id has got the stray event */
	bool disconnects;     /* the program has disconnected one of them, */
	bool insisted;        /* and has been told to stop for the second time */
	bool last_word;       /* ... or not: it was the end of what the program had to say */
	bool hit_after;       /* ... after all peers had what they wanted */
	enum fake_expected expected;
	bool peers_doing;      /* and it is no failure of a server's own */
	bool serves;           /* the program: its peers are clients */
	int wc_status;         /* of the completion that has failed; 0: none has */
	char call[FAKE_NAME];  /* which it was, */
	char fault[FAKE_NAME]; /* and how it failed; */
	char says[FAKE_NAME];  /* what the message is to hold, besides */
	unsigned int peers;    /* that the program had to do with, */
	unsigned int done;     /* and those that got all they wanted, every byte right */
	/* What became of completions and arming: for tests that want to know whether it has. */
	unsigned int completions, received_first, held, armed, before_arming, spurious_events;
	unsigned int late_sends, signaled, inlined;
	unsigned int low_events;       /* of SRQs */
	unsigned int asked;            /* requests that move no byte */
	_Atomic uint64_t skipped_ns;   /* of the program's clock, without waiting */
	unsigned int waits_for_thread; /* empty polls that took real time, see fake_hurry */
	/* In known time */
	_Atomic uint64_t known_messages,
		known_calls;    /* what has used CPU time so far: known_time.h */
	uint64_t known_last_ns; /* when the last of these messages came */
	uint64_t returned;      /* credits, by servers */
	struct fake_looks looks, noted[FAKE_NOTED]; /* ... when that receive, from 0, was found */
	unsigned int receives;                      /* found so far */
	unsigned int complaints;                    /* of the ledger, with their text */
	char text[FAKE_TEXT];
	char last[FAKE_LAST][FAKE_NAME]; /* calls: a ring; the newest is calls_seen - 1 */
	unsigned int calls_seen;
	/* By talkers, as the program is to print it; said_length: what does not fit in counts, too. */
	bool talks;
	char said[FAKE_TEXT];
	size_t said_length;
	/* The limit that the client was told with which it was refused. */
	uint64_t refused_limit;
};

#define FAKE_MOST_TYPED (1 << 18) /* bytes */

/* What a program that talks is given to say, on stdin: so many lines. Its length, at most `size`. */
size_t fake_typed(uint64_t lines, char *text, size_t size);

/* Starts the fake in this process; `config` and `report` stay the runner's. */
void fake_start(const struct fake_config *config, struct fake_report *report);

#endif
