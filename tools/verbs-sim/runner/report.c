/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Reports of a run: the line at its end, and the sleeping threads if it does not end. See runner.h.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "verbs-sim/core/schedule.h"
#include "verbs-sim/device/device.h"
#include "verbs-sim/runner/runner.h"

/* Prints a word behind a blank, quoted if a shell would split or change it. */
static void print_word(const char *word)
{
	if (*word && !strpbrk(word, " \t\n'\"\\$`*?&|;<>(){}[]#~!")) {
		sim_say(" %s", word);
		return;
	}
	sim_say(" '");
	for (; *word; word++)
		sim_say(*word == '\'' ? "'\\''" : "%c", *word);
	sim_say("'");
}

static void print_option(const char *name, const char *value)
{
	sim_say(" %s", name);
	print_word(value);
}

/* Prints the command that repeats the run. */
static void print_command(const struct sim_options *options)
{
	const char *name = options->allowed;
	char **word, one[32];
	uint32_t n;
	int i;

	sim_say("verbs-sim --seed %llu", (unsigned long long)sim_world->seed);
	for (n = 0; n < options->n_devices; n++) {
		if (!strcmp(options->devices[n], "iwarp"))
			sim_say(" --iwarp");
		else
			print_option("--device", options->devices[n]);
	}
	if (options->choices_file)
		print_option("--choices", options->choices_file);
	if (options->strict)
		sim_say(" --strict");
	if (options->cpus)
		sim_say(" --cpus %d --quantum %d --workers %d", options->cpus, options->quantum_us,
			options->workers);
	if (options->patience_ns != SIM_PATIENCE_NS)
		sim_say(" --patience %llu", (unsigned long long)options->patience_ns / 1000000000);
	if (options->strategy)
		sim_say(" --strategy %s", sim_strategies[options->strategy]);
	if (options->leaks)
		sim_say(" --leaks %s", sim_leaks_ways[options->leaks]);
	for (; sscanf(name, " %31s", one) == 1; name = strstr(name, one) + strlen(one))
		sim_say(" --allow %s", one);
	for (i = 0; i < options->n_expected; i++)
		sim_say(" --expect %d:%d", options->expected[i].program,
			options->expected[i].status);
	if (options->says_servers)
		sim_say(" --servers %d", options->servers);
	for (i = 0; i < options->n_faults; i++)
		print_option("--fail", options->faults[i].text);
	if (options->steps)
		print_option("--steps", options->steps);
	if (*options->words)
		sim_say(" --");
	for (word = options->words; *word; word++)
		print_word(*word);
}

static void print_programs(const struct sim_result *result)
{
	int i;

	sim_say("status");
	for (i = 0; i < sim_world->n_programs; i++) {
		if (!sim_world->programs[i].forked)
			sim_say("%c%d", i ? '/' : ' ', result->status[i]);
	}
	sim_say(", calls");
	for (i = 0; i < sim_world->n_programs; i++) {
		if (sim_world->programs[i].forked)
			continue;
		sim_say("%c%llu", i ? '/' : ' ', (unsigned long long)sim_world->programs[i].calls);
	}
}

static void print_told(void)
{
	const char *before = ", told to stop: ";
	int i;

	for (i = 0; i < sim_world->n_programs; i++) {
		if (!sim_world->programs[i].told_to_stop)
			continue;
		sim_say("%s%d", before, i);
		before = "/";
	}
}

static void warn_of_real_time(void)
{
	int i;

	for (i = 0; i < sim_world->n_programs; i++) {
		if (sim_world->programs[i].real_counter)
			sim_say("verbs-sim: program %d may read the processor's counter, which shows real "
				"time on this machine: the same seed may be another run\n",
				i);
	}
}

static void warn_of_message(const struct sim_fault *fault)
{
	if (fault->happened)
		return;
	sim_say("verbs-sim: --fail %s did not happen: ", fault->text);
	if (fault->seen < fault->number)
		sim_say("program %d received %llu messages\n", fault->program,
			(unsigned long long)fault->seen);
	else
		sim_say("it changes nothing in a message of %u bytes%s\n", fault->length,
			fault->most ? "" : " whose length is fixed");
}

/* A run whose fault did not happen has shown nothing. The last run of a sweep is one. */
static void warn_of_faults(const struct sim_options *options)
{
	const struct sim_fault *fault = sim_world->faults;
	uint64_t calls;

	for (; fault < sim_world->faults + options->n_faults && !options->sweep; fault++) {
		calls = *fault->call ? fault->seen : sim_world->programs[fault->program].calls;
		if (fault->kind == SIM_FAULT_CHANGE)
			warn_of_message(fault);
		else if (calls < fault->number)
			sim_say("verbs-sim: --fail %s did not happen: program %d made %llu such calls\n",
				fault->text, fault->program, (unsigned long long)calls);
		else if (fault->kind == SIM_FAULT_EVENT && !fault->happened)
			sim_say("verbs-sim: --fail %s did not happen: program %d had no id to tell\n",
				fault->text, fault->program);
		else if (fault->kind == SIM_FAULT_STATUS && !fault->happened)
			sim_say("verbs-sim: --fail %s did not happen: no completion came after it\n",
				fault->text);
	}
}

static void print_verdict(const struct sim_result *result)
{
	int i;

	sim_say("%s", sim_world->reason);
	for (i = 0; i < sim_world->n_programs; i++) {
		if (!result->killed[i] && result->status[i])
			sim_say(", program %d ended with %d", i, result->status[i]);
	}
}

/* Returns true if the run has only left objects, the same as the run before. */
static bool is_known_leak(const struct sim_result *result, const char *left)
{
	static char last[1024];
	bool known = result->exit == SIM_EXIT_LEFT && !strcmp(last, left);

	snprintf(last, sizeof(last), "%s", left);
	return known;
}

static double ms_of(uint64_t ns)
{
	return (double)ns / 1000000;
}

/* Says who had the CPUs. Workers without programs would have had one each, or all. */
static void say_who_worked(void)
{
	uint64_t all_ns = sim_world->cpus * sim_world->now_ns, alone_ns = all_ns;
	int i;

	sim_share_cpus(); /* up to now */
	if (sim_world->workers < sim_world->cpus)
		alone_ns = sim_world->workers * sim_world->now_ns;
	sim_say("verbs-sim: CPU time %.6f ms", ms_of(all_ns));
	for (i = 0; i < sim_world->n_programs; i++)
		sim_say("%s%.6f", i ? "/" : ": programs ", ms_of(sim_world->programs[i].cpu_ns));
	sim_say(", workers %.6f, idle %.6f; workers lost %.6f\n", ms_of(sim_world->worked_ns),
		ms_of(all_ns - sim_world->worked_ns - sim_world->busy_ns),
		ms_of(alone_ns - sim_world->worked_ns));
}

void sim_report(const struct sim_options *options, struct sim_result *result)
{
	char *left = result->left;

	sim_judge_run(options, result, left, sizeof(result->left));
	memcpy(result->wrong, sim_world->wrong, sizeof(result->wrong));
	sim_mute(options->quiet && (!result->exit || is_known_leak(result, left)) &&
		 (options->sweep || sim_world->seed != options->last_seed));
	if (options->hushed)
		sim_describe(options, result, sim_heard());
	warn_of_real_time();
	warn_of_faults(options);
	if (sim_world->cpus)
		say_who_worked();
	sim_say("verbs-sim: ");
	if (sim_world->verdict)
		print_verdict(result);
	else
		print_programs(result);
	print_told();
	if (*sim_world->done)
		sim_say(", fault: %s", sim_world->done);
	if (*sim_world->wrong)
		sim_say(", wrong: %s", sim_world->wrong);
	if (*sim_world->missing)
		sim_say(", not simulated: %s", sim_world->missing);
	sim_say(", left over: %s, %.3f ms, hash %016llx: ", *left ? left : "nothing",
		(double)sim_world->now_ns / 1000000, (unsigned long long)sim_world->hash);
	print_command(options);
	sim_say("\n");
	sim_mute(false);
}

/* ---- A run that does not end ---- */

/* Names each CQ with completions for which no event will come: the usual lost wake-up. */
static void say_what_nobody_tells(void)
{
	const struct sim_object *object;
	const struct sim_cq *cq;
	bool solicited, armed;

	SIM_EACH(object, SIM_CQ)
	{
		cq = (const struct sim_cq *)object;
		if (!cq->channel || !sim_pending(cq) || object->queued)
			continue;
		armed = cq->ring.entries ? sim_siw_is_armed(&cq->ring, &solicited) : cq->armed;
		sim_say("verbs-sim: program %d: CQ %u is %s, and has completions: no event tells of them\n",
			object->program->number, object->number,
			armed ? "armed for the next one" : "not armed");
	}
}

/* Names each channel with an event that the program has not read. */
static void say_what_is_unread(void)
{
	static const enum sim_kind channels[] = { SIM_COMP_CHANNEL, SIM_EVENT_CHANNEL,
						  SIM_CONTEXT };
	const struct sim_object *object;
	size_t i;

	for (i = 0; i < sizeof(channels) / sizeof(channels[0]); i++) {
		SIM_EACH(object, channels[i])
		{
			if (!TAILQ_EMPTY(&((const struct sim_channel *)object)->events))
				sim_say("verbs-sim: program %d: an event of %s %u is not read\n",
					object->program->number, sim_kind_names[channels[i]],
					object->number);
		}
	}
}

void sim_say_who_sleeps(void)
{
	const struct sim_thread *thread = sim_world->threads;

	for (; thread < sim_world->threads + sim_world->n_threads; thread++) {
		if (thread->state == SIM_THREAD_ASLEEP || thread->state == SIM_THREAD_READY)
			sim_say("verbs-sim: program %d, thread %u %s %s\n", thread->program->number,
				thread->number,
				thread->state == SIM_THREAD_ASLEEP ? "sleeps in" : "goes on in",
				thread->call);
	}
	say_what_nobody_tells();
	say_what_is_unread();
}
