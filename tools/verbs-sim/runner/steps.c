/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The steps of a run: lines of a file, each of which is done when the one before it is. What a step
 * waits for is a moment of the simulation, so it is the same in each run of a seed. While the runner
 * reads the next line, which somebody may still have to write, no program runs. See runner.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-sim/cm/cm.h"
#include "verbs-sim/core/schedule.h"
#include "verbs-sim/runner/runner.h"

#define MOST_WORDS 256
#define MOST       1e9 /* times, or seconds */

int sim_open_steps(struct sim_run *run)
{
	const char *name = run->options->steps;

	if (!name)
		return 0;
	run->steps.answers = !strcmp(name, "-");
	run->steps.file = run->steps.answers ? stdin : fopen(name, "re");
	return run->steps.file ? 0 : errno;
}

/* ---- Words ---- */

static char *next_word(char **rest)
{
	char *word;

	do {
		word = strsep(rest, " ");
	} while (word && !*word);
	return word;
}

/* Reads a word that is a number; -1: it is none. */
static double read_number(const char *word)
{
	char *end;
	double number = word ? strtod(word, &end) : -1;

	return word && end != word && !*end && number >= 0 && number <= MOST ? number : -1;
}

/* Reads the number of a started program; -1: there is none. */
static int read_program(const char *word)
{
	double number = read_number(word);

	return number >= 0 && number < sim_world->n_programs ? (int)number : -1;
}

/* ---- The steps: each returns false if its words make no sense ---- */

static bool start(struct sim_run *run, char *rest)
{
	char *argv[MOST_WORDS] = { next_word(&rest) };
	struct sim_streams streams;
	int n = 0;

	sim_default_streams(run, &streams);
	while (argv[0] && sim_redirect(&streams, argv[0]))
		argv[0] = next_word(&rest);
	while (n < MOST_WORDS - 1 && argv[n])
		argv[++n] = next_word(&rest);
	if (!n || argv[n] || sim_world->n_programs == SIM_MOST_PROGRAMS)
		return false;
	sim_add_program(run, argv, &streams);
	return true;
}

static bool await_text(struct sim_run *run, char *rest)
{
	struct sim_steps *steps = &run->steps;
	int program = read_program(next_word(&rest));
	const char *stream = next_word(&rest);
	double times = read_number(next_word(&rest));

	if (program < 0 || !stream || (strcmp(stream, "out") && strcmp(stream, "err")) ||
	    times < 1 || !rest || !*rest)
		return false;
	steps->waiting = SIM_WAITS_FOR_TEXT;
	steps->program = program;
	steps->stream = strcmp(stream, "out") ? 2 : 1;
	steps->times = (int)times;
	steps->text = strdup(rest);
	steps->searched = 0;
	return true;
}

static bool await_time(struct sim_run *run, char *rest)
{
	double seconds = read_number(next_word(&rest));
	const char *program = next_word(&rest);

	if (seconds < 0 || rest || (program && read_program(program) < 0))
		return false;
	run->steps.waiting = SIM_WAITS_FOR_TIME;
	run->steps.deadline_ns = sim_world->now_ns + (uint64_t)(seconds * 1e9);
	run->steps.program = read_program(program);
	return true;
}

static int signal_of(const char *name)
{
	int number;

	for (number = 1; name && number < 32; number++) {
		if (sigabbrev_np(number) && !strncmp(name, "SIG", 3) &&
		    !strcmp(sigabbrev_np(number), name + 3))
			return number;
	}
	return 0;
}

static bool send_signal(struct sim_run *run, char *rest)
{
	int number = read_program(next_word(&rest)), sent = signal_of(next_word(&rest));
	struct sim_program *program = &sim_world->programs[number < 0 ? 0 : number];

	if (number < 0 || !sent || rest)
		return false;
	if (program->state == SIM_PROGRAM_ENDED)
		return true;
	if (sent == SIGKILL)
		sim_kill_program(run, number);
	else if (sent == SIGSTOP || sent == SIGCONT)
		program->stopped = sent == SIGSTOP;
	else
		sim_send_signal(program, sent);
	return true;
}

/* Does now to a host what --fail does at a call. */
static bool fail(struct sim_run *run, char *rest)
{
	int number = read_program(next_word(&rest));
	const char *how = next_word(&rest);
	struct sim_fault fault = { .program = number };
	char text[sizeof(fault.text)];

	snprintf(text, sizeof(text), "%d:1:%s", number, how ? how : "");
	if (rest || !sim_read_fault(text, &fault) || sim_lacks_device(run->options, fault.device) ||
	    !sim_is_of_host(&fault))
		return false;
	sim_disturb(&sim_world->programs[number], &fault);
	return true;
}

static bool look(struct sim_run *run, char *rest)
{
	(void)run;
	if (!rest)
		sim_wake_descriptor(NULL, sim_any_file);
	return !rest;
}

static bool end(struct sim_run *run, char *rest)
{
	if (!rest)
		sim_kill_all(run);
	return !rest;
}

static const struct {
	const char *name;
	bool (*begin)(struct sim_run *run, char *rest);
} kinds[] = {
	{ "start", start },     { "until", await_text },
	{ "wait", await_time }, { "signal", send_signal },
	{ "fail", fail },       { "look", look },
	{ "end", end },
};

/* ---- One after the other ---- */

static void refuse(const struct sim_steps *steps, const char *line)
{
	sim_decide(SIM_VERDICT_STEP, "step %d cannot be done: %s", steps->number, line);
}

/* Begins the next step. */
static void begin_step(struct sim_run *run)
{
	char *line = NULL, *copy, *rest, *name;
	size_t i, size = 0;

	if (getline(&line, &size, run->steps.file) < 0) {
		run->steps.file = NULL;
		free(line);
		return;
	}
	line[strcspn(line, "\n")] = '\0';
	run->steps.number++;
	rest = copy = strdup(line);
	name = next_word(&rest);
	for (i = 0; name && i < sizeof(kinds) / sizeof(kinds[0]) && strcmp(name, kinds[i].name);
	     i++)
		;
	if (name && *name != '#' &&
	    (i == sizeof(kinds) / sizeof(kinds[0]) || !kinds[i].begin(run, rest)))
		refuse(&run->steps, line);
	free(copy);
	free(line);
}

static bool has_ended(int program)
{
	return program >= 0 && sim_world->programs[program].state == SIM_PROGRAM_ENDED;
}

/* Returns true if the step is done waiting. If it would wait forever, ends the run. */
static bool is_done(struct sim_run *run)
{
	struct sim_steps *steps = &run->steps;

	switch (steps->waiting) {
	case SIM_WAITS_NOT:
		return true;
	case SIM_WAITS_FOR_TIME:
		return sim_world->now_ns >= steps->deadline_ns || has_ended(steps->program);
	case SIM_WAITS_FOR_TEXT:
		if (sim_search(&run->streams[steps->program], steps))
			return true;
		if (has_ended(steps->program))
			sim_end_waiting(run);
		return false;
	}
	return true;
}

void sim_end_waiting(struct sim_run *run)
{
	struct sim_steps *steps = &run->steps;

	if (steps->waiting == SIM_WAITS_FOR_TIME) {
		sim_world->now_ns = steps->deadline_ns;
		return;
	}
	sim_say_who_sleeps();
	sim_decide(SIM_VERDICT_ASLEEP, "step %d: program %d has not said %s%s", steps->number,
		   steps->program, steps->text,
		   steps->stream == 1 ? ", or keeps it in a buffer of its own" : "");
}

static void watch(struct sim_run *run, bool watched)
{
	struct sim_steps *steps = &run->steps;

	sim_world->patience_ns = steps->waiting == SIM_WAITS_FOR_TIME
					 ? steps->deadline_ns
					 : sim_world->now_ns + run->options->patience_ns;
	if (steps->waiting == SIM_WAITS_FOR_TEXT)
		sim_world->programs[steps->program].watched = watched;
}

static void end_step(struct sim_run *run)
{
	watch(run, false);
	run->steps.waiting = SIM_WAITS_NOT;
	free(run->steps.text);
	run->steps.text = NULL;
	if (run->steps.answers && run->steps.number)
		sim_answer(run);
}

void sim_do_steps(struct sim_run *run)
{
	while (run->steps.file && !sim_world->verdict && is_done(run)) {
		end_step(run);
		begin_step(run);
		watch(run, true);
	}
}
