/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests. Contract: the stages and what each can do; the addresses to run them on;
 * and the setting of a test, which is one of each.
 */
#ifndef STAGES_TABLE_H
#define STAGES_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct stage {
	const char *name;   /* of its folder */
	const char *client; /* path of the program */
	const char *server; /* the same */
	bool only_waits; /* differs from another row in how it waits: what else it does is tested there */
	bool only_tells; /* ... in what it tells and is told before it is connected: so does the next one */
	bool negotiates;         /* the server learns count and size from the client */
	bool ids_come_as_events; /* of clients, on the listener's channel: no verb brings them */
	bool streams;    /* messages go one way, and the server verifies them, not the client */
	bool beside;     /* not a rung of the ladder: most of it is tested by make check-long */
	bool bare;       /* without a connection manager, hence not over iWARP */
	int one_sided;   /* completions of a message at the client */
	bool agent_sees; /* ... the agent knows of each message; else it has no completions */
	bool counts;     /* ... by atomic operations, hence not over soft-iWARP */
	bool only_writes; /* ... nothing comes back: the server verifies, and there is no round trip */
	bool shares_receives;    /* the server: of a size that is an option of its own */
	bool notices_peer_death; /* a side whose peer leaves or dies ends without --timeout */
};

/*
 * The stages, or, with STAGES_NINE in the environment, the nine ways to wait of build/nine/.
 * choose_stages sets both, and comes first.
 */
extern const struct stage *stages;
extern int n_stages;

void choose_stages(void);

struct target {
	const char *address;   /* of this machine, the server's */
	const char *peer;      /* where the client finds the server: mostly the same */
	char device[64];       /* as verbs call it */
	const char *transport; /* as the results call it */
	bool ipv6;
	uint64_t max_message; /* bytes: what the device's port says */
};

#define MAX_TARGETS 4

extern struct target targets[MAX_TARGETS];
extern int n_targets;

/*
 * Finds the targets: the one that RDMA_ADDR names, else those of the lab. One that is missing is
 * reported as skipped. Ends the program if there is none, or if no device serves an address.
 */
void find_targets(void);

/* A setting is a number, so that it fits Check's loop variable. */
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

/* Whether the stage can run there at all. */
bool can_run(const struct stage *stage, const struct target *target);

/* "ping-sr-0 rxe0 IPv4": never freed. */
const char *setting_name(int number);

#endif
