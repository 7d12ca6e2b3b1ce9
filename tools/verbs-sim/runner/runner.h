/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-sim, the program: starts the programs of a run in a new world, and reports the result.
 */
#ifndef VERBS_SIM_RUNNER_RUNNER_H
#define VERBS_SIM_RUNNER_RUNNER_H
#include <stdio.h>

#include "verbs-sim/device/devices.h"
#include "verbs-sim/device/faults.h"

/* verbs-sim's own exit statuses; any other is that of the first program that failed. */
enum sim_exit {
	SIM_EXIT_USAGE = 2,
	SIM_EXIT_ASLEEP = 120, /* all sleep forever */
	SIM_EXIT_LEFT = 121,   /* a program has left objects behind */
	SIM_EXIT_UNKNOWN = 122,
	SIM_EXIT_STUCK = 123,
	SIM_EXIT_WRONG = 124, /* a program has done something wrong that nothing reported to it */
	SIM_EXIT_BROKEN = 125
};

enum sim_leaks {
	SIM_LEAKS_FAIL,
	SIM_LEAKS_REPORT, /* reported, without an effect on the exit status */
	SIM_LEAKS_IGNORE,
	SIM_LEAKS_WAYS
};

#define SIM_MOST_EXPECTED 64
#define SIM_PATIENCE_NS   7200000000000ull /* without --patience */

/* A status with which a program may end. */
struct sim_expected {
	int program, status;
};

/* Choices of a run: core/chance.h. */
struct sim_choices {
	bool records, repeats;
	struct sim_choice *all;
	uint32_t n;
};

struct sim_options {
	uint64_t seed, last_seed;
	bool trace, strict, quiet;
	bool users;                            /* programs may belong to other users: helper.c */
	int strategy;                          /* index of sim_strategies */
	const char *devices[SIM_MOST_DEVICES]; /* arguments of --device; none: one like soft-RoCE */
	uint32_t n_devices;
	struct sim_fault faults[SIM_MOST_FAULTS];
	int n_faults;
	const char *sweep; /* "S[:HOW]" or "S:message[:N]": see sim_sweep; or NULL */
	enum sim_leaks leaks;
	struct sim_expected expected[SIM_MOST_EXPECTED];
	int n_expected;
	char allowed[256]; /* as sim_world->allowed */
	const char *junit; /* the file of test cases, or NULL */
	int servers;       /* programs that may run until they are told to stop */
	bool says_servers; /* the command line has --servers */
	int gdb;           /* the program to debug, or -1 */
	char ***programs;  /* arguments of each program */
	int n_programs;
	uint64_t patience_ns; /* simulated time until programs that still run are told to stop */
	int cpus, workers;    /* CPUs that all share, and workers on them; 0: none */
	int quantum_us;
	int limit_s; /* real time in which something has to happen */
	const char *library;
	char **words;      /* the command line, from the first "--" on */
	const char *steps; /* the file of steps, "-" for stdin, or NULL */
	struct sim_choices choices;
	bool coverage;
	const char *choices_file;
	const char *shrink; /* the name of the files of --shrink, or NULL */
	bool hushed;        /* keeps the output of programs, but for their last words */
	bool apart; /* prints the output of all programs after the run, one after the other */
	const char *traced; /* the file with the trace for a picture, or NULL */
	int most_s;         /* real time that the run may take; 0: any */
	int *alike; /* for each program, the first one of the whole run with the same words */
};

#define SIM_STRATEGIES 4
extern const char *const sim_strategies[SIM_STRATEGIES];
extern const char *const sim_leaks_ways[SIM_LEAKS_WAYS];

/* Names of all findings that sim_blame reports, each between spaces; --help has them in two lines. */
#define SIM_SOME_FINDINGS "always changed-send cq-overrun depth inline no-receive posted-memory"
#define SIM_OTHER_FINDINGS \
	"read-access read-pieces retry-count rnr-retry-count shared-receive small-cq status"
#define SIM_FINDINGS " " SIM_SOME_FINDINGS " " SIM_OTHER_FINDINGS " "

/* The result of one run. */
struct sim_result {
	int status[SIM_MOST_PROGRAMS];  /* exit statuses, as in a shell */
	int signal[SIM_MOST_PROGRAMS];  /* the signal that killed it, or 0 */
	bool killed[SIM_MOST_PROGRAMS]; /* the runner killed it, because the run could not go on */
	uint64_t calls[SIM_MOST_PROGRAMS];
	struct sim_fault faults[SIM_MOST_FAULTS]; /* as the run has left them */
	int exit;
	int failed;                 /* the program that decided `exit`; -1: none */
	char wrong[512];            /* as sim_world->wrong */
	char left[1024];            /* objects that its programs did not destroy */
	char shape[1024];           /* the way in which it failed: shape.c */
	char others[4096];          /* the sleeps of its other programs */
	struct sim_choice *choices; /* recorded, or repeated */
	uint32_t n_choices;
};

/* The targets of a program's stdin, stdout and stderr. */
struct sim_streams {
	int fds[3];     /* -1: as the runner's */
	char *files[3]; /* names, or NULL */
	bool kept[3];   /* kept in memory, until the program, or the run, has ended */
};

enum sim_waiting {
	SIM_WAITS_NOT,
	SIM_WAITS_FOR_TIME, /* for a time, or the end of a program */
	SIM_WAITS_FOR_TEXT
};

/* The steps that are left, and the current one: see steps.c. */
struct sim_steps {
	FILE *file;   /* NULL: there are no more */
	bool answers; /* answers each step on stdout */
	int number;   /* the current step's, from 1 */
	enum sim_waiting waiting;
	int program; /* -1: none */
	uint64_t deadline_ns;
	int stream; /* 1: stdout, 2: stderr */
	int times;  /* the text has to come so many times more */
	char *text;
	size_t searched; /* bytes of the stream so far */
};

struct sim_run {
	const struct sim_options *options;
	struct sim_result *result;
	int world_fd;
	pid_t helper;                  /* 0: there is none */
	pid_t pids[SIM_MOST_PROGRAMS]; /* 0: the program has ended */
	int pidfds[SIM_MOST_PROGRAMS]; /* readable when the program has ended; 0: none yet */
	struct sim_streams streams[SIM_MOST_PROGRAMS];
	bool stopped;  /* the runner sent SIGTERM to all, because all programs slept */
	uint64_t seen; /* the hash at the runner's last look */
	struct sim_steps steps;
};

/*
 * Reads the command line. Returns 0, or the exit status, after a message; -1: nothing is left to
 * do.
 */
int sim_read_options(int argc, char **argv, struct sim_options *options);

/* ---- Choices: choices.c and shrink.c ---- */

/* Reads a file of choices. Returns 0, or the number of a wrong line; -1: it cannot be read. */
int sim_read_choices(const char *name, struct sim_choices *choices);

/* Prints choices in the form of that file, each with an explanation. */
void sim_print_choices(FILE *file, const struct sim_choice *choices, uint32_t n);

/* Describes a choice that the last run has repeated, for a person. */
void sim_explain_choice(FILE *file, const struct sim_choice *choice);

/* Give a world the choices to repeat, and take those that it has recorded. */
void sim_give_choices(const struct sim_choices *choices);
void sim_take_choices(struct sim_result *result);

/*
 * Shrinks the first of these runs that fails: writes its choices and its picture, and reports the
 * small run. Returns its exit status, or 2: no run fails.
 */
int sim_shrink(const struct sim_options *options);

/* Prints the text of --help. */
void sim_print_usage(void);

/* Makes one run, and reports its result on stderr. Returns the exit status. */
int sim_run(const struct sim_options *options, uint64_t seed, struct sim_result *result);

/* Reads "SIDE:[CALL:]N[:HOW]", the argument of --fail. Returns false if it is none. */
bool sim_read_fault(const char *argument, struct sim_fault *fault);

/* Returns true if a fault happens to the host of a program, whatever the program does. */
bool sim_is_of_host(const struct sim_fault *fault);

/* Returns true if this is the name of a device, and the run has none of this name. */
bool sim_lacks_device(const struct sim_options *options, const char *name);

/* Returns true if the library at `path`, which counts calls, counts those of this name. */
bool sim_counts_call(const char *path, const char *name);

/* Reads "S[:HOW]", the argument of --sweep, as "S:CALL[:HOW]". */
bool sim_read_sweep(const char *sweep, unsigned long long call, struct sim_fault *fault);

/* Read the arguments of --allow and --expect. They return false if it is none. */
bool sim_allow(struct sim_options *options, const char *finding);
bool sim_expect(struct sim_options *options, const char *text);

/*
 * Reads "S:message[:N]", the argument of --sweep, as a fault of the Nth message, by default the first.
 */
bool sim_sweeps_messages(const char *sweep, struct sim_fault *fault);

/*
 * --sweep: a run without a fault, and then one for each call of a program, in which that call
 * fails, or one for each change of each message. A run passes if each program ends, by itself, and
 * leaves nothing; the status may be any. Returns the first exit status that is not 0, or 121 only
 * if no other is.
 */
int sim_sweep(const struct sim_options *options, uint64_t seed);

/* Returns the worse of two exit statuses: any other before 121, otherwise the first. */
int sim_worse(int one, int other);

/* Sets the exit status of the run in `result`, and lists in `left` the objects not destroyed. */
void sim_judge_run(const struct sim_options *options, struct sim_result *result, char *left,
		   size_t size);

/* Sets the shape of a run that has failed, from its report, without the line at the end. */
void sim_describe(const struct sim_options *options, struct sim_result *result, const char *said);

/*
 * Returns true if a run fails as the first one did: with the same exit status, and the same program, or one
 * with the same words, failed with the same findings, and left the same kinds of objects. If the program
 * hangs, it sleeps in the same calls for the same reasons, and the others sleep nowhere else; otherwise it
 * has ended after the same call and the same error from the device, with the same last words.
 */
bool sim_fails_alike(const struct sim_result *one, const struct sim_result *first);

/* Judges the run, and prints the line at the end. */
void sim_report(const struct sim_options *options, struct sim_result *result);

/* ---- Reports, for people and for CI: junit.c ---- */

/* Prints on stderr, and with --junit into the test case, too. */
void sim_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Makes sim_say keep its text instead of printing it, even while muted; or print again. */
void sim_hear(bool hears);

/* Returns the text kept since sim_hear, valid until the next. */
const char *sim_heard(void);

/* Mutes sim_say, or unmutes it: while muted, it prints nothing on stderr. */
void sim_mute(bool mute);

/* Begin and end a test case of --junit: each run is one, which fails if the exit status is not 0. */
void sim_begin_case(const struct sim_options *options);
void sim_end_case(const struct sim_options *options, int status);

/* Writes the file of --junit. Returns 0, or an errno value, after a message. */
int sim_write_junit(const struct sim_options *options);

/* ---- Coverage of all runs: coverage.c ---- */

/* Adds the coverage of this run. */
void sim_take_coverage(void);

/*
 * With --coverage, prints the coverage of all runs; and prints each sim_sometimes of a program that
 * none of several runs has reached. Returns the exit status for the latter.
 */
int sim_report_coverage(const struct sim_options *options);

/* Starts a program in a new process; returns its pid. */
pid_t sim_start(const struct sim_options *options, int number, int world_fd, char **argv,
		const struct sim_streams *streams);

/* ---- Programs: programs.c ---- */

bool sim_has_turn(void);
bool sim_any_alive(const struct sim_run *run);

/*
 * Sleeps until a program ends, or a signal says that it is the runner's turn; not longer than a
 * second.
 */
void sim_wait_for_news(struct sim_run *run);

/* Notices which programs have ended, and then asks for the turn. */
void sim_reap(struct sim_run *run);

/* The functions below need the turn. */

/* Handles the noticed ends. */
void sim_bury_all(struct sim_run *run);

/* Adds the programs of the command line: each begins when those before it sleep. */
void sim_add_programs(struct sim_run *run);

/* Adds a program, which is loaded when this returns, and begins a moment later. */
void sim_add_program(struct sim_run *run, char **argv, const struct sim_streams *streams);

/* Kills a program, and handles its end. */
void sim_kill_program(struct sim_run *run, int number);

/* Kills all programs at the end of a run, with the turn or without it. */
void sim_kill_all(struct sim_run *run);

/* ---- Programs of other users: helper.c ---- */

/* Starts the helper, in a process of its own, before any program; returns its pid. */
pid_t sim_start_helper(void);

/* Ends the helper. */
void sim_end_helper(pid_t helper);

/* ---- Steps: steps.c ---- */

/* Opens the file of steps. Returns 0, or an errno value. */
int sim_open_steps(struct sim_run *run);

/* Does steps until one has to wait for the programs. */
void sim_do_steps(struct sim_run *run);

/* Ends the wait of a step, because nothing will happen any more, or the time is up. */
void sim_end_waiting(struct sim_run *run);

/* Prints on stderr the call that each thread is in: report.c. */
void sim_say_who_sleeps(void);

/* Prints the state of the run on stdout, as one line of JSON: answer.c. */
void sim_answer(const struct sim_run *run);

/* ---- Streams: start.c ---- */

/* Sets the streams of a program without redirections: with steps, no input, and kept output. */
void sim_default_streams(const struct sim_run *run, struct sim_streams *streams);

/* Opens the file of "<FILE", ">FILE" or "2>FILE". Returns false for another word. */
bool sim_redirect(struct sim_streams *streams, const char *word);

/* Closes descriptors that only the program needs. */
void sim_close_streams(struct sim_streams *streams);

/* Looks for the text that a step waits for. Returns true if it has come often enough. */
bool sim_search(const struct sim_streams *streams, struct sim_steps *steps);

/* Takes the last line of a program's kept stderr, or else of its stdout. */
void sim_take_last_words(const struct sim_streams *streams, char *to, size_t room);

/* Prints a program's kept output. */
void sim_print_kept(const struct sim_streams *streams);
#endif
