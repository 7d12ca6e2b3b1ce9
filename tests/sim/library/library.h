/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The files of library share this: both ends of a connection, and each question, which returns its
 * exit status. The table in library.c has their names.
 */
#ifndef SIM_LIBRARY_H
#define SIM_LIBRARY_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>

#include "our_control.h"

#define MOST 5 /* sends, and receives, that are asked for */
#define SIZE 64

extern struct our_config config;
extern struct sockaddr_in address;
extern struct our_control *listener, *client, *agent;
extern uint32_t size, most; /* bytes of a buffer; buffers of a side */
extern bool stays;          /* the agent, on its listener's channel */

/* library.c */
void must(int ret, const char *what);
void set_up(struct our_control *control);
struct our_control *connect_client(struct our_device *device);
void *be_client(void *unused);
void listen_for_it(void);
void connect_both(struct our_device *device);
void take(struct our_control *control, int n);
void close_both(void);

/* posting.c */
int post_sends(void);
int post_receives(void);
int post_unsignaled(void);
int post_long_list(void);
int post_wrong_list(void);
int post_too_long(void);
int grow_cq(void);
void post_read(uint32_t index, const struct ibv_mr *mr, uint32_t rkey);
int read_by_wrong_key(void);

/* keys.c */
int keep_keys(void);

/* waiting.c */
int meet_no_receive(void);
int connect_in_loop(void);
int read_counters(void);
int read_from_silent(void);

/* own_verbs.c */
void *send_one(void *unused);
int post_by_verbs(void);
int resize_cq(void);
int forget_completions(void);
int have_own_pool(void);

/* ends.c */
int take_after_end(void);
int accept_and_take(void);
int bind_also_twice(void);
int ask_for_timeouts(void);
int take_no_more(void);
int get_after_removal(void);
int reject_without_channel(void);

/* queues.c */
int have_own_queue(void);
int have_queue_of_whole(void);
int post_own_receive(void);
int have_own_receives(void);
int leave_to_device(void);
int make_many(void);
int reuse_places(void);
int be_killed(void);
int close_all(void);

/* reconnecting.c */
int reconnect_shared(void);
int reconnect_often(void);
int reconnect_by_loop(void);
int moderate(void);

/* each.c */
int call_each(void);

#endif
