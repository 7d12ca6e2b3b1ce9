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
#define SIM_MOST_CHANGES  3
#define SIM_MOST_KINDS    16 /* of objects */
#define SIM_TASK_KINDS    8
#define SIM_PURPOSES      7           /* enum sim_purpose */
#define SIM_RESERVE       0x8000000ul /* of the world: what no program asks for, as events */
#define SIM_FOREVER       UINT64_MAX

/*
 * Variables of the environment by which a program finds its world, and which of its programs it is.
 */
#define SIM_WORLD_VARIABLE   "VERBS_SIM_WORLD"
#define SIM_PROGRAM_VARIABLE "VERBS_SIM_PROGRAM"
#define SIM_SPAWNED          's' /* behind the number: it has not had its first turn yet */

/*
 * Kinds of work that may be fast in one run and slow in another: the seed draws for each kind how
 * long it takes at most, and for each thread how long after it was woken it goes on. device/kinds.h
 * names them.
 */
#define SIM_PACES 3

/* A time that something waits for. */
struct sim_due {
	uint64_t ns;
	uint32_t place; /* among all of these; 0: it waits for none */
};

/*
 * A thread or a task, as one that makes choices, and how far it has come. Only a run that records or
 * repeats choices counts this: core/chance.h.
 */
struct sim_actor {
	uint64_t name;
	uint32_t acts;                /* calls of a thread, or times that a task was done */
	uint16_t draws[SIM_PURPOSES]; /* of numbers, in this act */
};

/* Something that happens later. What that is, kind and object say to sim_do_task alone. */
struct sim_task {
	struct sim_due due;
	TAILQ_ENTRY(sim_task) link; /* of those that are due */
	bool scheduled;
	uint32_t kind;
	uint64_t order;    /* how many were scheduled before */
	uint32_t priority; /* by priorities: see core/schedule.c */
	struct sim_actor actor;
	void *object;
};

/* A timer of a program. */
struct sim_timer {
	struct sim_task task;
	struct sim_program *program;
	uint64_t interval_ns, expired;
};

enum sim_thread_state {
	SIM_THREAD_UNUSED,
	SIM_THREAD_NEW, /* waits for its first turn, which comes when all before it sleep */
	SIM_THREAD_READY,
	SIM_THREAD_ASLEEP,
	SIM_THREAD_ENDED /* and will be joined, or is of a program that has not ended yet */
};

struct sim_thread {
	uint32_t turn; /* a futex: 1 is an invitation to run */
	enum sim_thread_state state;
	struct sim_program *program;
	uint32_t number;   /* in its program, from 0 */
	uint32_t priority; /* by priorities: the greatest goes on */
	struct sim_actor actor;
	uint64_t deadline_ns; /* when it wakes at the latest */
	uint64_t ready_ns;    /* when it goes on after it was woken */
	uint32_t pace_ns;     /* most from waking to going on: see enum sim_pace */
	const void *awaited[SIM_MOST_AWAITED];
	int n_awaited;         /* 0: any descriptor */
	bool woken;            /* what it awaits has changed */
	bool detached;         /* nobody will join it */
	const void *condition; /* that it waits for, also while a signal's handler runs; or NULL */
	bool signalled;        /* by pthread_cond_signal */
	uint64_t idle_ns;      /* spent in calls that found nothing to do */
	uint64_t looked_ns;    /* spent on nothing but looking at the clock */
	uint64_t blocked_signals;  /* bit N - 1: signal N */
	uint64_t pending_signals;  /* to be raised when it has its turn */
	char call[40];             /* the last call that it made */
	struct sim_fault *instead; /* of the event that its call leads to; or NULL */
};

enum sim_program_state {
	SIM_PROGRAM_STARTING, /* its library is not loaded yet */
	SIM_PROGRAM_RUNNING,
	SIM_PROGRAM_ENDED
};

/* The beginning of everything that a program creates, and that the ledger counts by its kind. */
struct sim_object {
	TAILQ_ENTRY(sim_object) link;       /* in the world's list of its kind, */
	TAILQ_ENTRY(sim_object) of_program; /* and in its program's */
	uint32_t kind;
	uint32_t number; /* of its kind, from 1; never used again */
	uint32_t users;  /* objects that need it: while there are any, it cannot be destroyed */
	bool hidden;     /* a library made it for itself, and need not destroy it */
	/* Events about it that the kernel has told the program's library: see kernel/events.c. */
	uint32_t reported, async_reported;
	uint32_t queued; /* and those that are in a queue */
	struct sim_program *program;
	/* In the program's memory: what the program knows it by, and its locks (kernel/locks.c). */
	void *user, *locks;
};
TAILQ_HEAD(sim_objects, sim_object);

struct sim_program {
	enum sim_program_state state;
	int number;
	pid_t pid;
	struct sim_thread *main_thread;
	uint32_t n_threads;
	uint64_t calls;               /* made so far */
	uint64_t random_bytes;        /* drawn so far */
	uint64_t cpu_ns;              /* simulated time that its threads have used */
	uint64_t sleeps, preemptions; /* of its threads */
	struct sim_task alarm;        /* alarm(2), and setitimer(2), */
	uint64_t alarm_interval_ns;   /* which repeats it; 0: not */
	struct sim_objects objects[SIM_MOST_KINDS];
	uint32_t left[SIM_MOST_KINDS];               /* objects not destroyed at its end */
	TAILQ_HEAD(sim_channels, sim_channel) stale; /* see device/device.h */
	struct sim_fault *next_status; /* injected into its next completion, or NULL */
	bool silent;                   /* its host is cut off */
	bool told_to_stop;             /* because all slept, or it did not end */
	uint64_t runs;                 /* times that its threads have slept and gone on */
	bool stopped;                  /* by SIGSTOP: its threads do not run, but its device does */
	bool watched;                  /* a step awaits its output */
	int64_t written;               /* bytes of stdout and stderr seen so far */
	bool forked;                   /* another program of the run has started it */
	struct sim_program *parent;    /* that will wait for its end; NULL: none */
	int64_t heap_blocks, heap_bytes; /* allocated by it and its libraries, and not freed */
	bool real_counter;               /* it may read the processor's counter: real time */
	uint64_t streams[3]
			[2]; /* devices and inodes of stdin, stdout and stderr, as the run began */
	char last_event[40]; /* that came to it, or empty */
	/* For --shrink: how it has ended. */
	char first_error[40]; /* that an event told it of, or empty */
	char last_call[40];
	char last_words[80]; /* that it printed */
	bool may_leave_objects; /* a call that destroys was made to fail: it cannot destroy everything */
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
 * With verbs-sim --users: what a program of another user may not do by itself, and the runner's helper
 * does for it. One program at a time asks, the one that has the turn.
 */
enum sim_wanted {
	SIM_WANTS_NOTHING,
	SIM_WANTS_COPY,  /* from or to another program's memory */
	SIM_WANTS_RUNNER /* to wake it */
};

struct sim_help {
	bool serves;       /* there is a helper */
	uint32_t wanted;   /* an enum sim_wanted; the helper sets it back when it is done */
	pid_t mine, other; /* programs */
	uint64_t here, there, length; /* in mine and in the other's memory */
	bool writes;                  /* to the other's */
	int64_t moved;                /* bytes, or -1: the helper's answer */
};

/* A line of a program that has a macro of tools/verbs-sim/verbs_sim.h, as "FILE:LINE: TEXT". */
#define SIM_MOST_LINES 256
struct sim_line {
	char text[160];
	bool sometimes, reached;
};

/* What has occurred, for --coverage. */
#define SIM_MOST_COVERED 2048
struct sim_covered {
	char text[120];
	uint64_t times;
};

struct sim_world {
	/* Settings and findings of this run. */
	uint64_t seed;
	bool trace, strict;
	bool steps; /* its programs do what a list of steps says: runner/steps.c */
	pid_t runner_pid;
	struct sim_help help;
	struct sim_fault *faults; /* from the command line */
	int n_faults;
	char done[256];  /* faults that were injected, or empty */
	char wrong[512]; /* findings about programs, or empty */
	struct sim_line lines[SIM_MOST_LINES];
	struct sim_covered *covered; /* SIM_MOST_COVERED of them, or NULL */
	bool draws;                  /* events are traced, too */
	char allowed[256];           /* names of findings that are none, each between spaces */
	char missing
		[256]; /* requests of libraries to the kernel that are not simulated, or empty */

	bool shares_locks; /* a program has made a lock for several processes */

	/* Whose turn it is. */
	struct sim_thread *running;
	struct sim_thread
		runner; /* the runner's own entry: it runs when a program has ended, and when nobody can */
	uint32_t runner_is_needed; /* it goes on next; set by the runner, at any time */
	struct sim_thread threads[SIM_MOST_THREADS];
	uint32_t n_threads;
	struct sim_program programs[SIM_MOST_PROGRAMS];
	int n_programs;

	/* Time and chance. */
	uint64_t now_ns;
	uint64_t patience_ns; /* when the runner is to look whether this will ever end */
	uint64_t random;
	bool records, repeats;      /* choices: see core/chance.h */
	struct sim_choice *choices; /* those that depart from the usual */
	uint32_t n_choices, room_choices;
	struct sim_actor acted; /* whoever has done something last, as it was then */
	uint32_t purpose;       /* of the next number: enum sim_purpose */
	uint64_t about;
	bool in_task;            /* a task is done, */
	struct sim_actor acting; /* this one, as it was when it began */
	uint32_t tasks_of[SIM_MOST_PROGRAMS + 1][SIM_TASK_KINDS]; /* that have names */
	bool by_priority; /* the strategy: see core/schedule.c */
	bool busy;        /* threads are held up */
	/* At which points a thread loses its priority; 0: at none. */
	uint64_t changes[SIM_MOST_CHANGES];
	uint64_t points;  /* calls so far */
	uint32_t in_turn; /* times that the same thread went on */
	uint32_t preempt; /* at one of this many calls another thread may go on */
	uint32_t pace_ns[SIM_PACES];
	uint64_t hash; /* of all that has happened, in order */

	enum sim_verdict verdict;
	char reason[200];

	TAILQ_HEAD(sim_tasks, sim_task) tasks; /* that are due */
	uint64_t n_scheduled;                  /* so far */
	struct sim_due **later;                /* the times that are waited for: core/later.c */
	uint32_t n_later, room_later;
	struct sim_objects objects[SIM_MOST_KINDS];
	uint32_t numbers[SIM_MOST_KINDS];              /* the last one of each kind, */
	struct sim_object **by_number[SIM_MOST_KINDS]; /* where each is, or NULL, */
	uint32_t room[SIM_MOST_KINDS];                 /* and for how many there is room */
	uint32_t next_port;

	/* Structures that layers above this one share, and only they know. */
	struct sim_devices *devices;   /* device/devices.h */
	struct sim_endpoints *by_port; /* cm/addresses.c */

	/* The memory behind this structure: see ledger.c. */
	uint64_t used;
	void *free_blocks[48];
};

/* The world of this process; NULL in a process that is not simulated. */
extern struct sim_world *sim_world;

/* Does a task: the one call from here upwards, to the function that this process was given below. */
extern void (*sim_do_task)(struct sim_task *task);

/*
 * Creates the world of a run, in a memory file whose descriptor it returns; -1 and errno if it
 * cannot.
 */
int sim_create_world(void (*do_task)(struct sim_task *task));

/* Maps the world of this file into this process. Returns 0 or an errno value. */
int sim_map_world(int fd, void (*do_task)(struct sim_task *task));

/* As syscall(2), for the simulation's own calls: no function of the program stands in between. */
long sim_system(long number, ...);

/*
 * Memory of the world, all zero, for anyone to use until sim_free. There is always enough, or the
 * run ends. So whoever allocates what a program asks for has seen that there is enough, and refuses
 * with ENOMEM.
 */
void *sim_alloc(size_t size);
bool sim_has_memory(size_t size);
void sim_free(void *memory);

/*
 * An array of pointers that has twice as much room, or some for the first time; the old one is freed.
 */
void *sim_widen(void *array, uint32_t *room);

/* A number from 0 to `below` - 1, by the seed. */
uint32_t sim_random(uint32_t below);

/* Returns true in one of `of` cases, by the seed. */
bool sim_rarely(uint32_t of);

/* The next of the random bytes that a program asks the kernel for. */
uint8_t sim_random_byte(struct sim_program *program);

/* Draws what differs from run to run: once, before the first program is added. */
void sim_draw_paces(void);
uint32_t sim_new_pace_ns(const struct sim_thread *thread);

/* The time that this thread takes now from being woken to going on: half of its pace, to all of it. */
uint64_t sim_waking_ns(const struct sim_thread *thread);

/* The time that work of this kind takes in this run; now and then much longer. */
uint64_t sim_pace_ns(unsigned int pace);

/* The priority of a new thread or task. Those below the lowest are given at a change: choice.c. */
#define SIM_LOWEST 16
uint32_t sim_new_priority(void);

/* Enters into the hash of the run that something has happened. */
void sim_note(const char *what, uint64_t value);

/* Says how the run ends, if nothing has said so before. */
void sim_decide(enum sim_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Sends the runner a signal; 0: only asks whether it is there. Returns 0, or -1 and errno. */
int sim_signal_runner(int number);

/* Asks the runner's helper, and with SIM_WANTS_COPY waits for it. Needs the turn. */
void sim_ask_helper(enum sim_wanted wanted);

/* Says how the run ends, at once: the runner reports it and kills all programs. Does not return. */
void sim_give_up(enum sim_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* The same in the runner, which reports to nobody: leaves the run, and does not return. */
extern void (*sim_leave_run)(void);

/*
 * A condition that holds unless the simulation itself is wrong. If it does not hold, the run ends,
 * and reports the condition, whoever has the turn.
 */
#define SIM_ASSERT(condition)                                                                \
	((condition) ? (void)0                                                               \
		     : sim_give_up(SIM_VERDICT_BROKEN, "the simulation is wrong: %s:%d: %s", \
				   __FILE__, __LINE__, #condition))

/* Lists of the world. Only an element that is not linked is linked, and the reverse. */
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

/* Decrements a count of the world, which is at least one. */
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
 * With --coverage, counts what has occurred. Of calls those that can fail; of events also which came
 * before: two neighbours of one program are an order. `bad`: it tells the program of an error; the first
 * is noted, for --shrink.
 */
void sim_cover(const char *format, ...) __attribute__((format(printf, 1, 2)));
void sim_cover_call(const char *name, bool failed);
void sim_cover_event(struct sim_program *program, const char *what, const char *name, bool bad);

/* Notes for the last line that a library has asked something that is not simulated; once. */
void sim_report_missing(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Notes for the last line that a program has done something wrong; once, however often it does. The
 * text begins with the name of the finding and a colon; runner/runner.h lists the names.
 */
void sim_blame(const struct sim_program *program, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- The ledger ---- */

/* Creates an object of this program: `size` bytes that begin with a struct sim_object. */
void *sim_create(uint32_t kind, size_t size, struct sim_program *program, void *user);

/* Takes an object out of the ledger and frees it. The caller has seen that it has no users. */
void sim_destroy(void *object);

/* The object of any program that has this number; NULL: there is none. */
void *sim_find(uint32_t kind, uint32_t number);

#define SIM_EACH(object, kind)                                        \
	for (object = TAILQ_FIRST(&sim_world->objects[kind]); object; \
	     object = TAILQ_NEXT(object, link))
#endif
