/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The state of a run, as the line of JSON that answers each step. See runner.h.
 */
#include <dirent.h>
#include <stdio.h>

#include "verbs-sim/device/device.h"
#include "verbs-sim/runner/runner.h"

static bool is_asleep(const struct sim_program *program)
{
	const struct sim_thread *thread = sim_world->threads;

	for (; thread < sim_world->threads + sim_world->n_threads; thread++) {
		if (thread->program == program && thread->state != SIM_THREAD_UNUSED &&
		    thread->state != SIM_THREAD_ENDED &&
		    (thread->state != SIM_THREAD_ASLEEP || thread->woken))
			return false;
	}
	return true;
}

static int threads_of(const struct sim_program *program)
{
	const struct sim_thread *thread = sim_world->threads;
	int n = 0;

	for (; thread < sim_world->threads + sim_world->n_threads; thread++)
		n += thread->program == program && thread->state != SIM_THREAD_UNUSED &&
		     thread->state != SIM_THREAD_ENDED;
	return n;
}

/* Counts descriptors, with those of the simulation itself, whose number stays the same. */
static int descriptors_of(pid_t pid)
{
	char path[32];
	DIR *folder;
	int n = -2; /* without . and .. */

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	folder = opendir(path);
	if (!folder)
		return -1;
	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

static unsigned long long locked_by(const struct sim_program *program)
{
	unsigned long long bytes = 0;
	const struct sim_object *object;

	SIM_EACH(object, SIM_MR)
	{
		if (object->program == program)
			bytes += ((const struct sim_mr *)object)->region.length;
	}
	return bytes;
}

static void print_resources(const struct sim_program *program)
{
	printf("\"threads\": %d, \"descriptors\": %d, \"heap_blocks\": %lld, \"heap_bytes\": %lld, "
	       "\"locked_bytes\": %llu, ",
	       threads_of(program), descriptors_of(program->pid), (long long)program->heap_blocks,
	       (long long)program->heap_bytes, locked_by(program));
}

static void print_program(const struct sim_run *run, int number)
{
	const struct sim_program *program = &sim_world->programs[number];

	printf("%s{\"status\": ", number ? ", " : "");
	if (program->state == SIM_PROGRAM_ENDED) {
		printf("%d}", run->result->status[number]);
		return;
	}
	printf("null, \"pid\": %d, ", run->pids[number]);
	print_resources(program);
	printf("\"calls\": %llu, \"runs\": %llu, \"asleep\": %s}",
	       (unsigned long long)program->calls, (unsigned long long)program->runs,
	       is_asleep(program) ? "true" : "false");
}

void sim_answer(const struct sim_run *run)
{
	struct sim_object *object;
	int i, n, connected = 0;

	printf("{\"ms\": %.6f, \"programs\": [", (double)sim_world->now_ns / 1e6);
	for (i = 0; i < sim_world->n_programs; i++)
		print_program(run, i);
	printf("], \"objects\": {");
	for (i = 0; i < SIM_KINDS; i++) {
		n = 0;
		SIM_EACH(object, (enum sim_kind)i)
		n++;
		printf("%s\"%s\": %d", i ? ", " : "", sim_kind_names[i], n);
	}
	SIM_EACH(object, SIM_QP)
	connected += ((struct sim_qp *)object)->state == IBV_QPS_RTS;
	printf("}, \"connected\": %d}\n", connected);
	fflush(stdout);
}
