/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * pubsub-rdma-1: a record that is changed in place while others read it, and that shows whether a
 * copy is whole. Its layout is in docs/protocol.md. A record has one writer; readers look at their
 * own copies.
 */
#ifndef OUR_RECORD_H
#define OUR_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/options.h"

#define OUR_MIN_RECORD 32 /* bytes: two numbers, a sum and one word */
#define OUR_MAX_RECORD (1 << 20)

/* --verify; --check: what a reader checks before it takes a copy for a whole record. */
extern const struct our_option our_record_options[];

/* Returns true if a record can have `size` bytes; otherwise reports why not. */
bool our_is_record_size(size_t size);

/*
 * Makes record[size] hold record number `number`, counted from 1. A reader sees an odd number
 * meanwhile. Only one thread may call this.
 */
void our_change_record(uint8_t *record, size_t size, uint64_t number);

/* The number of a record that is whole. */
uint64_t our_record_number(const uint8_t *record);

/* Returns true if the copy of a record is whole, as far as --check checks. */
bool our_record_is_whole(const uint8_t *copy, size_t size);

/*
 * Copies the record while others change it: our own threads, or a peer's device. Returns whether
 * the copy is whole, as far as --check checks.
 */
bool our_copy_record(uint8_t *copy, const uint8_t *record, size_t size);

/*
 * Verifies for -v, without --check, that all words of a copy belong to one record, not older than
 * *newest, and sets *newest to it. Returns 0; or EBADMSG, reported.
 */
int our_verify_record(const uint8_t *copy, size_t size, uint64_t *newest);

#endif
