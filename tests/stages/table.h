/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests. Contract: the stages and what each can do; the addresses to run them on;
 * and the setting of a test, which is a stage and an address.
 */
#ifndef STAGES_TABLE_H
#define STAGES_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct stage {
	const char *name;   /* the name of its folder */
	const char *client; /* path of the program */
	const char *server; /* the same */
	bool only_waits;    /* differs from another row only in how it waits */
	bool only_tells;    /* ... only in what it exchanges before it is connected: likewise */
	bool negotiates;    /* the server learns count and size from the client */
	bool ids_come_as_events; /* of clients, on the listener's channel, not from a verb */
	bool streams;     /* messages go one way, and the server verifies them, not the client */
	bool beside;      /* outside the ladder: make check-long has most of its tests */
	bool bare;        /* without a connection manager, hence not over iWARP */
	int one_sided;    /* completions of a message at the client */
	bool agent_sees;  /* ... the agent knows of each message; else it has no completions */
	bool counts;      /* ... by atomic operations, so not over soft-iWARP */
	bool only_writes; /* ... nothing comes back: the server verifies; no round trips */
	bool shares_receives;    /* the server: an option sets the receives' size */
	bool notices_peer_death; /* it ends without --timeout if its peer leaves or dies */
};

/*
 * The stages; with STAGES_NINE in the environment, the nine ways to wait of build/nine/.
 * choose_stages sets both variables, and must be called first.
 */
extern const struct stage *stages;
extern int n_stages;

void choose_stages(void);

struct target {
	const char *address;   /* of this machine: where the server listens */
	const char *peer;      /* where the client finds the server: usually the same */
	char device[64];       /* the name that verbs use */
	const char *transport; /* the name in the results */
	bool ipv6;
	uint64_t max_message; /* bytes; the value of the device's port */
};

#define MAX_TARGETS 4

extern struct target targets[MAX_TARGETS];
extern int n_targets;

/*
 * Finds the targets: the address in RDMA_ADDR, or those of the lab. A missing one is reported as
 * skipped. Ends the program if there is no target, or if no device serves an address.
 */
void find_targets(void);

/* A setting is a number, because Check's loop variable is one. */
struct setting {
	const struct stage *stage;
	const struct target *target;
	const char *port; /* the server's */
};

#define RUN_PORT "17321"

static inline int setting_number(int stage, int target)
{
	return stage * MAX_TARGETS + target;
}

static inline struct setting setting_of(int number)
{
	return (struct setting){ &stages[number / MAX_TARGETS], &targets[number % MAX_TARGETS],
				 RUN_PORT };
}

/* Whether the stage can run there. */
bool can_run(const struct stage *stage, const struct target *target);

/* A name such as "ping-sr-0 rxe0 IPv4", which is never freed. */
const char *setting_name(int number);

#endif
