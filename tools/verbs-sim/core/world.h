/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The world: everything that the simulated programs share. It is one piece of memory, which the
 * runner creates and each program maps at the same address, so that its pointers mean the same
 * everywhere.
 *
 * Contract: only the thread whose turn it is (schedule.h) reads or writes the world. Pointers in it
 * lead to the world itself; one that leads into a program's own memory says so, and only that
 * program follows it.
 */
#ifndef VERBS_SIM_CORE_WORLD_H
#define VERBS_SIM_CORE_WORLD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

/*
 * Low memory is the only place that neither a program's own mappings use nor AddressSanitizer and
 * ThreadSanitizer keep for themselves. It ends at 0x58000000, where valgrind's tools are linked to.
 */
#define SIM_WORLD_ADDRESS 0x18000000ul
#define SIM_WORLD_SIZE    0x40000000ul
#define SIM_MOST_THREADS  8192
#define SIM_MOST_PROGRAMS 4096
#define SIM_MOST_AWAITED  8
#define SIM_MOST_WORKERS  64
#define SIM_MOST_CHANGES  3
#define SIM_MOST_KINDS    16 /* kinds of objects */
#define SIM_TASK_KINDS    8
#define SIM_PURPOSES      7           /* enum sim_purpose */
#define SIM_RESERVE       0x8000000ul /* bytes kept for what no program asks for, such as events */
#define SIM_FOREVER       UINT64_MAX

/*
 * Environment variables that give a program its world, and its number there.
 */
#define SIM_WORLD_VARIABLE   "VERBS_SIM_WORLD"
#define SIM_PROGRAM_VARIABLE "VERBS_SIM_PROGRAM"
#define SIM_SPAWNED          's' /* after the number: it has not had its first turn yet */

/*
 * Kinds of work that may be fast in one run and slow in another: the seed draws for each kind how
 * long it takes at most, and for each thread how long it takes from waking to going on.
 * device/kinds.h names the kinds.
 */
#define SIM_PACES 3

/* A time that something waits for. */
struct sim_due {
	uint64_t ns;
	uint32_t place; /* in the heap of all times; 0: nothing waits for this one */
};

/*
 * A thread or a task as a maker of choices, and how far it has come. Counted only in a run that
 * records or repeats choices: core/chance.h.
 */
struct sim_actor {
	uint64_t name;
	uint32_t acts;                /* a thread's calls, or how often a task was done */
	uint16_t draws[SIM_PURPOSES]; /* numbers drawn in this act */
};

/* Something that happens later: only sim_do_task knows the meaning of kind and object. */
struct sim_task {
	struct sim_due due;
	TAILQ_ENTRY(sim_task) link; /* in the list of due tasks */
	bool scheduled;
	uint32_t kind;
	uint64_t order;    /* number of tasks scheduled before it */
	uint32_t priority; /* with that strategy: see core/choice.c */
	struct sim_actor actor;
	void *object;
};

/* A timer of a program. */
struct sim_timer {
	struct sim_task task;
	struct sim_program *program;
	uint64_t interval_ns, expired;
};

/* A thread, or a worker, as one that wants a CPU: core/cpus.c. */
struct sim_share {
	uint64_t used_ns;  /* CPU time, and what it has left unused */
	uint64_t until_ns; /* the end of its quantum */
	bool wants, has, had;
};

enum sim_thread_state {
	SIM_THREAD_UNUSED,
	SIM_THREAD_NEW, /* waits for its first turn, when all before it sleep */
	SIM_THREAD_READY,
	SIM_THREAD_ASLEEP,
	SIM_THREAD_ENDED /* not joined yet, or its program has not ended yet */
};

struct sim_thread {
	uint32_t turn; /* a futex: 1 is an invitation to run */
	enum sim_thread_state state;
	struct sim_program *program;
	uint32_t number;   /* from 0 in each program */
	uint32_t priority; /* with that strategy: the greatest goes on */
	struct sim_actor actor;
	uint64_t deadline_ns; /* the latest time to wake */
	uint64_t ready_ns;    /* the time to go on, once woken */
	uint32_t pace_ns;     /* the longest time from waking to going on: see enum sim_pace */
	const void *awaited[SIM_MOST_AWAITED];
	int n_awaited;         /* 0: any descriptor */
	bool woken;            /* something that it awaits has changed */
	bool detached;         /* nobody will join it */
	const void *condition; /* awaited, also while a signal's handler runs; or NULL */
	bool signalled;        /* pthread_cond_signal has woken it */
	struct sim_share share;
	bool polls;                /* it sleeps, and its program uses the CPU all the same */
	bool idles;                /* it looks again and again: its last look has found nothing */
	uint64_t idle_ns;          /* spent in calls that found nothing to do */
	uint64_t looked_ns;        /* spent on nothing but looking at the clock */
	uint64_t blocked_signals;  /* bit N - 1: signal N */
	uint64_t pending_signals;  /* to be raised when it has its turn */
	char call[40];             /* the last call that it made */
	struct sim_fault *instead; /* replaces the event of its call; or NULL */
};

enum sim_program_state {
	SIM_PROGRAM_STARTING, /* its library is not loaded yet */
	SIM_PROGRAM_RUNNING,
	SIM_PROGRAM_ENDED
};

/* The beginning of everything that a program creates, and that the ledger counts by its kind. */
struct sim_object {
	TAILQ_ENTRY(sim_object) link;       /* in the world's list of the kind */
	TAILQ_ENTRY(sim_object) of_program; /* in its program's list of the kind */
	uint32_t kind;
	uint32_t number; /* from 1 for each kind; never used again */
	uint32_t users;  /* objects that need it: while there are any, it cannot be destroyed */
	bool hidden;     /* a library made it for itself, and need not destroy it */
	/* Events about the object that the program's library has read: see kernel/events.c. */
	uint32_t reported, async_reported;
	uint32_t queued; /* events about it that are in a queue */
	struct sim_program *program;
	/* In the program's memory: the program's name for it, and its locks (kernel/locks.c). */
	void *user, *locks;
};
TAILQ_HEAD(sim_objects, sim_object);

struct sim_program {
	enum sim_program_state state;
	int number;
	pid_t pid;
	struct sim_thread *main_thread;
	uint32_t n_threads;
	uint64_t calls;               /* number made */
	uint64_t random_bytes;        /* number drawn */
	uint64_t cpu_ns;              /* simulated time that its threads have used */
	uint64_t sleeps, preemptions; /* sums over its threads */
	struct sim_task alarm;        /* for alarm(2) and setitimer(2) */
	uint64_t alarm_interval_ns;   /* for setitimer(2); 0: not repeated */
	struct sim_objects objects[SIM_MOST_KINDS];
	uint32_t left[SIM_MOST_KINDS];               /* objects not destroyed at the end */
	TAILQ_HEAD(sim_channels, sim_channel) stale; /* see device/device.h */
	struct sim_fault *next_status; /* injected into its next completion, or NULL */
	bool told_to_stop;             /* sent SIGTERM, because all slept, or it did not end */
	uint64_t runs;                 /* number of times that its threads have slept and gone on */
	bool stopped;                  /* by SIGSTOP: its threads do not run, but its device does */
	bool watched;                  /* a step awaits its output */
	int64_t written;               /* bytes of stdout and stderr seen so far */
	bool forked;                   /* another program of the run has started it */
	struct sim_program *parent;    /* the program that will reap it; NULL: none */
	int64_t heap_blocks, heap_bytes; /* allocated by it and its libraries, and not freed */
	bool real_counter;               /* it may read the real counter of the processor */
	uint64_t streams[3]
			[2]; /* devices and inodes of stdin, stdout and stderr, as the run began */
	char last_event[40]; /* the last that the program got, or empty */
	/* For --shrink: the program's end. */
	char first_error[40]; /* the first that an event has told, or empty */
	char last_call[40];
	char last_words[80];    /* printed last */
	bool may_leave_objects; /* --fail kept it from destroying something */
};

/* The reason why a run ends before its programs do. */
enum sim_verdict {
	SIM_VERDICT_NONE,
	SIM_VERDICT_ASLEEP,  /* all sleep forever */
	SIM_VERDICT_STEP,    /* a step cannot be done */
	SIM_VERDICT_UNKNOWN, /* a call that is not simulated */
	SIM_VERDICT_STUCK,   /* a thread does not give its turn back */
	SIM_VERDICT_BROKEN   /* the simulation itself cannot go on */
};

/*
 * With verbs-sim --users, the runner's helper does for a program of another user what that user may
 * not do. Only the program that has the turn asks.
 */
enum sim_wanted {
	SIM_WANTS_NOTHING,
	SIM_WANTS_COPY,  /* a copy from or to another program's memory */
	SIM_WANTS_RUNNER /* a signal that wakes the runner */
};

struct sim_help {
	bool serves;       /* there is a helper */
	uint32_t wanted;   /* an enum sim_wanted; the helper sets it back when it is done */
	pid_t mine, other; /* the asking program, and another */
	uint64_t here, there, length; /* addresses in mine and in the other's memory */
	bool writes;                  /* to the other's memory, not from it */
	int64_t moved;                /* bytes, or -1: the helper's answer */
};

/* A line of a program that has a macro of tools/verbs-sim/verbs_sim.h, as "FILE:LINE: TEXT". */
#define SIM_MOST_LINES 256
struct sim_line {
	char text[160];
	bool sometimes, reached;
};

/* Occurrences, for --coverage. */
#define SIM_MOST_COVERED 2048
struct sim_covered {
	char text[120];
	uint64_t times;
};

struct sim_world {
	/* Settings and findings of this run. */
	uint64_t seed;
	uint64_t memory_limit; /* see sim_memory_limit */
	bool trace, strict;
	bool steps; /* a list of steps says what its programs do: runner/steps.c */
	pid_t runner_pid;
	struct sim_help help;
	struct sim_fault *faults; /* from --fail */
	int n_faults;
	char done[256];  /* faults that were injected, or empty */
	char wrong[512]; /* findings about programs, or empty */
	struct sim_line lines[SIM_MOST_LINES];
	struct sim_covered *covered; /* room for SIM_MOST_COVERED, or NULL */
	bool draws;                  /* events are traced, too */
	char allowed[256];           /* names of findings to ignore, each between spaces */
	char missing
		[256]; /* requests of libraries to the kernel that are not simulated, or empty */

	bool shares_locks; /* a program has made a lock for several processes */

	/* The turn. */
	struct sim_thread *running;
	struct sim_thread
		runner; /* the runner's own entry: it runs when a program has ended, and when nobody can */
	uint32_t runner_is_needed; /* the runner goes on next; it may set this at any time */
	struct sim_thread threads[SIM_MOST_THREADS];
	uint32_t n_threads;
	struct sim_program programs[SIM_MOST_PROGRAMS];
	int n_programs;

	/* Time and chance. */
	uint64_t now_ns;
	uint64_t patience_ns; /* the time for the runner to look whether this run will ever end */
	uint64_t random;
	bool records, repeats;      /* choices: see core/chance.h */
	struct sim_choice *choices; /* choices that depart from the usual */
	uint32_t n_choices, room_choices;
	struct sim_actor acted; /* a copy of the actor of the last act */
	uint32_t purpose;       /* for the next number: enum sim_purpose */
	uint64_t about;
	bool in_task;            /* a task is being done */
	struct sim_actor acting; /* a copy of its actor, from when it began */
	uint32_t tasks_of[SIM_MOST_PROGRAMS + 1][SIM_TASK_KINDS]; /* named so far */
	bool by_priority; /* the strategy: see core/choice.c */
	bool busy;        /* threads are held up */
	/* The points at which a thread loses its priority; 0: none. */
	uint64_t changes[SIM_MOST_CHANGES];
	uint64_t points;  /* calls made */
	uint32_t in_turn; /* times in a row that the same thread went on */
	uint32_t preempt; /* at one of this many calls another thread may go on */
	uint32_t pace_ns[SIM_PACES];
	/* CPUs, and workers, which compute all the time: core/cpus.c. No CPUs: as many as threads. */
	uint32_t cpus, free_cpus, workers;
	uint64_t quantum_ns, shared_ns;
	uint64_t busy_ns, worked_ns; /* CPU time of all threads, and of all workers */
	struct sim_share worker[SIM_MOST_WORKERS];
	uint64_t hash; /* over all that has happened, in order */

	enum sim_verdict verdict;
	char reason[200];

	TAILQ_HEAD(sim_tasks, sim_task) tasks; /* the due ones */
	uint64_t n_scheduled;                  /* in all */
	struct sim_due **later;                /* the heap of times: core/later.c */
	uint32_t n_later, room_later;
	struct sim_objects objects[SIM_MOST_KINDS];
	uint32_t numbers[SIM_MOST_KINDS];              /* the last number of each kind */
	struct sim_object **by_number[SIM_MOST_KINDS]; /* objects by number, or NULL */
	uint32_t room[SIM_MOST_KINDS];                 /* the sizes of these arrays */
	uint32_t next_port;

	/* Structures that only the layers above this one know. */
	struct sim_devices *devices;   /* see device/devices.h */
	struct sim_endpoints *by_port; /* see cm/addresses.c */

	/* The memory behind this structure: see ledger.c. */
	uint64_t used;
	void *free_blocks[48];
};

/* The world of this process; NULL in a process that is not simulated. */
extern struct sim_world *sim_world;

/* Does a task: the one call to a layer above. */
extern void (*sim_do_task)(struct sim_task *task);

/*
 * Creates the world of a run, in a memory file whose descriptor it returns; -1 and errno if it
 * cannot.
 */
int sim_create_world(void (*do_task)(struct sim_task *task));

/* Maps the world of this file into this process. Returns 0 or an errno value. */
int sim_map_world(int fd, void (*do_task)(struct sim_task *task));

/* Does as syscall(2), for the simulation's own calls: no function of the program stands in between. */
long sim_system(long number, ...);

/*
 * Returns memory of the world, all zero, for anyone to use until sim_free. If there is not
 * enough, the run ends: a caller that allocates for a program checks first, and refuses with
 * ENOMEM.
 */
void *sim_alloc(size_t size);
bool sim_has_memory(size_t size);
void sim_free(void *memory);

/*
 * Returns a copy of an array of pointers with twice the room, or a first array; frees the old one.
 */
void *sim_widen(void *array, uint32_t *room);

/* Returns a number from 0 to `below` - 1, by the seed. */
uint32_t sim_random(uint32_t below);

/* Returns true in one of `of` cases, by the seed. */
bool sim_rarely(uint32_t of);

/* Returns the next random byte for a program that asks the kernel. */
uint8_t sim_random_byte(struct sim_program *program);

/* Draws the settings that differ from run to run: once, before the first program is added. */
void sim_draw_paces(void);
uint32_t sim_new_pace_ns(const struct sim_thread *thread);

/* Returns the time from waking this thread now to its going on: between half its pace and all of it. */
uint64_t sim_waking_ns(const struct sim_thread *thread);

/* Returns the time for work of this kind in this run; now and then much longer. */
uint64_t sim_pace_ns(unsigned int pace);

/* Returns the priority of a new thread or task. Lower ones are given at a change: choice.c. */
#define SIM_LOWEST 16
uint32_t sim_new_priority(void);

/* Enters into the hash of the run that something has happened. */
void sim_note(const char *what, uint64_t value);

/* Says how the run ends, if nothing has said so before. */
void sim_decide(enum sim_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Sends the runner a signal; 0: only asks whether it exists. Returns 0, or -1 and errno. */
int sim_signal_runner(int number);

/* Asks the runner's helper, and with SIM_WANTS_COPY waits for it. Needs the turn. */
void sim_ask_helper(enum sim_wanted wanted);

/* Says how the run ends, at once: the runner reports it and kills all programs. Does not return. */
void sim_give_up(enum sim_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* Does the same in the runner, which reports to nobody: leaves the run, and does not return. */
extern void (*sim_leave_run)(void);

/*
 * Checks a condition that holds unless the simulation itself is wrong. If it does not hold, the run
 * ends, and reports the condition, in whichever process.
 */
#define SIM_ASSERT(condition)                                                                \
	((condition) ? (void)0                                                               \
		     : sim_give_up(SIM_VERDICT_BROKEN, "the simulation is wrong: %s:%d: %s", \
				   __FILE__, __LINE__, #condition))

/* Lists of the world. They check that an element is linked once only, and unlinked once only. */
#define SIM_LINK(head, element, link)                   \
	do {                                            \
		SIM_ASSERT(!(element)->link.tqe_prev);  \
		TAILQ_INSERT_TAIL(head, element, link); \
	} while (0)
#define SIM_UNLINK(head, element, link)                             \
	do {                                                        \
		SIM_ASSERT((element)->link.tqe_prev);               \
		SIM_ASSERT((element) == *(element)->link.tqe_prev); \
		TAILQ_REMOVE(head, element, link);                  \
		(element)->link.tqe_prev = NULL;                    \
	} while (0)

/* Decrements a count of the world, which must be one or more. */
#define SIM_COUNT_DOWN(count)            \
	do {                             \
		SIM_ASSERT((count) > 0); \
		(count)--;               \
	} while (0)

/* With --trace: prints what a device does for this program, as if its first thread had found it. */
void sim_trace_device(const struct sim_program *program, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* For the picture of --shrink: prints what comes to this program, in a lane of its own. */
void sim_trace_event(const struct sim_program *program, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Notes for the last line that a fault was injected. */
void sim_report_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * With --coverage, count what has occurred: calls that can fail, and events, with the one before:
 * two neighbours of one program are an order. `bad`: the event tells the program of an error; the
 * first is noted, for --shrink.
 */
void sim_cover(const char *format, ...) __attribute__((format(printf, 1, 2)));
void sim_cover_call(const char *name, bool failed);
void sim_cover_event(struct sim_program *program, const char *what, const char *name, bool bad);

/* Notes for the last line, once, that a library has made a request that is not simulated. */
void sim_report_missing(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Notes for the last line that a program has done something wrong; repetitions are not noted. The
 * text begins with the name of the finding and a colon; runner/runner.h lists the names.
 */
void sim_blame(const struct sim_program *program, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- The ledger ---- */

/* Creates an object of this program: `size` bytes that begin with a struct sim_object. */
void *sim_create(uint32_t kind, size_t size, struct sim_program *program, void *user);

/* Takes an object out of the ledger and frees it. The caller has seen that it has no users. */
void sim_destroy(void *object);

/* Returns the object of any program that has this number; NULL: there is none. */
void *sim_find(uint32_t kind, uint32_t number);

#define SIM_EACH(object, kind)                                        \
	for (object = TAILQ_FIRST(&sim_world->objects[kind]); object; \
	     object = TAILQ_NEXT(object, link))
#endif
