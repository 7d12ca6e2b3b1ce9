/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, a client of blast that does not send the suite's extension. Contract: it has
 * receives for three credit messages, and does everything as late as docs/protocol.md allows.
 */
#include <string.h>

#include "tests/fake/state.h"

/* Empty polls. In a hurried run they take much longer than an agent waits for a full batch. */
#define PATIENCE 200

/* Only now the receive of the message before is posted again. */
static void take_oldest(struct fake_peer *peer)
{
	uint64_t credits = peer->untaken[0];

	peer->n_untaken--;
	memmove(peer->untaken, peer->untaken + 1, peer->n_untaken * sizeof(credits));
	peer->not_posted = 1;
	fake_take_credits(peer, credits);
}

/* From here on the agent has no reason to poll: the end must not wait for it. */
static void take_last_ones(struct fake_peer *peer)
{
	uint64_t credits = peer->received;
	unsigned int i;

	for (i = 0; i < peer->n_untaken; i++)
		credits += peer->untaken[i];
	while (credits == peer->count && peer->n_untaken)
		take_oldest(peer);
}

void fake_stranger_hears(struct fake_peer *peer, uint64_t credits)
{
	if (peer->n_untaken + peer->not_posted == FAKE_CREDIT_RECVS) {
		fake_complain("a credit message met no receive");
		return;
	}
	peer->untaken[peer->n_untaken++] = credits;
	take_last_ones(peer);
}

/* Sends one message; or, if it has no credit, takes one message with credits. */
void fake_stranger_moves(struct fake_peer *peer)
{
	if (peer->left || ++peer->looks % PATIENCE)
		return;
	if (peer->credits && peer->sent < peer->count) {
		peer->credits--;
		fake_say(peer, peer->sent++);
	} else if (peer->n_untaken) {
		take_oldest(peer);
	}
}
