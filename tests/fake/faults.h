/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, how calls fail. Contract: see faults.c.
 */
#ifndef FAKE_FAULTS_H
#define FAKE_FAULTS_H

#include "tests/fake/state.h"

/*
 * Finds way number `choice` (from 0) in which `call` fails; returns false if there are not so many.
 */
bool fake_choose_fault(const char *call, unsigned int choice, struct fake_fault *fault);
unsigned int fake_count_faults(const char *call);

#endif
