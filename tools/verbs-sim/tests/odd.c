/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * odd: programs that verbs-sim has to report, or to lead astray: each argument is one. Takes
 * nothing of the suite.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif
#include <rdma/rdma_cma.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int forget(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	return rdma_create_id(channel, &id, NULL, RDMA_PS_TCP);
}

/* Prints the room of a CQ of 10, resized twice, and of a QP of 10 sends and 20 receives. */
static int print_room(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(devices[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 10, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .cap = { 10, 20, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	struct ibv_qp_attr attr;

	printf("%d ", cq->cqe);
	if (ibv_resize_cq(cq, 20))
		return 1;
	printf("%d ", cq->cqe);
	if (ibv_resize_cq(cq, 5) || ibv_resize_cq(cq, 0) != EINVAL ||
	    ibv_query_qp(qp, &attr, IBV_QP_CAP, &init))
		return 1;
	printf("%d %u %u\n", cq->cqe, attr.cap.max_send_wr, attr.cap.max_recv_wr);
	return ibv_destroy_qp(qp) || ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) ||
	       ibv_close_device(context);
}

/* A QP for which there is no memory, and as many SRQs as there is memory for, twice. */
static int fill_memory(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(devices[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .cap = { 1 << 20, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_srq_init_attr large = { .attr = { .max_wr = 100000, .max_sge = 1 } };
	struct ibv_srq *srqs[1000];
	int round, n;

	if (ibv_create_qp(pd, &init) || errno != ENOMEM)
		return 1;
	for (round = 0; round < 2; round++) {
		n = 0;
		while (n < 1000 && (srqs[n] = ibv_create_srq(pd, &large)))
			n++;
		printf("%s", n && n < 1000 ? strerrorname_np(errno) : "no end");
		while (n)
			ibv_destroy_srq(srqs[--n]);
	}
	return ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) || ibv_close_device(context);
}

/* Nobody will ever unlock it, and SIGTERM does not end it. */
static int lock_twice(void)
{
	signal(SIGTERM, SIG_IGN);
	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&lock);
	return 0;
}

/* Its own frame is where the call comes from. */
static int call_unknown_wait(void)
{
	return flock(STDIN_FILENO, LOCK_SH) ? 1 : 0;
}

/* In the error state the device takes what is posted, too. */
static int post_unknown(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(devices[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_TSO }, *bad;

	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return 1;
	attr.qp_state = IBV_QPS_ERR;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE) || ibv_post_send(qp, &wr, &bad);
}

static int spin(void)
{
	static volatile int never;

	while (!never)
		;
	return 0;
}

/* The processor's, in simulated ns; only that of x86-64 is simulated, hence elsewhere the clock. */
static uint64_t counter(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

static int count_an_hour(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	struct timespec hour = { 3600, 0 };
	uint64_t start = counter();

	nanosleep(&hour, NULL);
	printf("%.6f s\n", (double)(counter() - start) / 1e9);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}

/* Without verbs-sim: SIGSEGV ends it where verbs-sim can simulate the counter. */
static int trap_counter(void)
{
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	counter();
	return 0;
}

static volatile int flag;

static void *set_flag_later(void *unneeded)
{
	(void)unneeded;
	sleep(3600);
	flag = 1;
	return NULL;
}

/* Looks at memory, and makes no call, until another thread of its own has run. */
static int spin_on_memory(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	pthread_t thread;

	pthread_create(&thread, NULL, set_flag_later, NULL);
	while (!flag)
		;
	puts("set");
	pthread_join(thread, NULL);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}

static long ms_between(const struct timespec *start, const struct timespec *end)
{
	return (end->tv_sec - start->tv_sec) * 1000 + (end->tv_nsec - start->tv_nsec) / 1000000;
}

/* By a system call that the simulation passes on. */
static long real_cpu_ms(void)
{
	struct rusage usage;

	syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
	return usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000;
}

/* Makes no call for several ticks of CPU time, but does not wait: that takes no simulated time. */
static int compute(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	static volatile unsigned int sum;
	struct timespec start, now;
	long begun_ms, now_ms;

	clock_gettime(CLOCK_MONOTONIC, &start);
	begun_ms = real_cpu_ms();
	do {
		for (unsigned int i = 0; i < 1000000; i++)
			sum += i;
		now_ms = real_cpu_ms();
	} while (now_ms < begun_ms + 40);
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%ld ms\n", ms_between(&start, &now));
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}

/* Prints the error of a call that has failed after others that have not. */
static int print_errno_late(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_cm_id *id;

	rdma_create_id(channel, &id, NULL, RDMA_PS_TCP);
	errno = ENXIO;
	rdma_bind_addr(id, (struct sockaddr *)&address);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	usleep(1);
	puts(errno == ENXIO ? "ENXIO" : strerror(errno));
	return 0;
}

/* Two messages for a peer that has closed its end: the second one raises SIGPIPE. */
static int write_to_nobody(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(7471) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), writer = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1) ||
	    connect(writer, (struct sockaddr *)&address, sizeof(address)))
		return 1;
	close(accept(listener, NULL, NULL));
	if (write(writer, "1", 1) != 1)
		return 1;
	printf("accepted\n");
	fflush(stdout);
	return write(writer, "2", 1) != 1;
}

static void on_sigterm(int number)
{
	(void)number;
}

/* Ends well, but only when it is told to. */
static int await_sigterm(void)
{
	struct sigaction action = { .sa_handler = on_sigterm };

	sigaction(SIGTERM, &action, NULL);
	puts("ready");
	poll(NULL, 0, -1);
	return 0;
}

static int crash(void)
{
	abort();
}

/* An hour of simulated time, by each clock. */
static int sleep_an_hour(void)
{
	struct timespec before, after, hour = { 3600, 0 };
	time_t start = time(NULL);

	clock_gettime(CLOCK_MONOTONIC, &before);
	if (nanosleep(&hour, NULL))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &after);
	printf("%ld s, %ld s\n", (long)(after.tv_sec - before.tv_sec), (long)(time(NULL) - start));
	return 0;
}

/* A PD cannot be freed while a region needs it, and not twice. */
static int free_early(void)
{
	static char data[64];
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_mr *mr = ibv_reg_mr(pd, data, sizeof(data), IBV_ACCESS_LOCAL_WRITE);

	printf("%s\n", strerrorname_np(ibv_dealloc_pd(pd)));
	ibv_dereg_mr(mr);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}

/* The first that the device tells of itself. */
static int await_async_event(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	struct ibv_async_event event;

	if (ibv_get_async_event(context, &event))
		return 1;
	printf("%s, port %d\n", ibv_event_type_str(event.event_type), event.element.port_num);
	ibv_ack_async_event(&event);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return 0;
}

/* Three expirations, of a timer with a descriptor that is read without poll. */
static int tick(void)
{
	struct itimerspec second = { { 1, 0 }, { 1, 0 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0), i;
	uint64_t count;

	timerfd_settime(fd, 0, &second, NULL);
	for (i = 0; i < 3; i++) {
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			return 1;
	}
	printf("%d ticks\n", i);
	close(fd);
	return 0;
}

static void on_signal(int number)
{
	(void)number;
}

/* The same, of the timer that sends SIGALRM. */
static int ring(void)
{
	struct itimerval second = { { 1, 0 }, { 1, 0 } }, left;
	time_t start = time(NULL);

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &second, NULL);
	for (int i = 0; i < 3; i++)
		pause();
	usleep(250000);
	alarm(0);
	setitimer(ITIMER_REAL, &second, &left);
	printf("%ld s, %ld ", (long)(time(NULL) - start), (long)left.it_value.tv_sec);
	usleep(250000);
	getitimer(ITIMER_REAL, &left);
	printf("%ld us of %ld s\n", (long)left.it_value.tv_usec / 1000 * 1000,
	       (long)left.it_interval.tv_sec);
	return 0;
}

static pthread_spinlock_t spin_lock;

static void *count_spinning(void *count)
{
	for (int i = 0; i < 100; i++) {
		pthread_spin_lock(&spin_lock);
		++*(int *)count;
		pthread_spin_unlock(&spin_lock);
	}
	return NULL;
}

/* Three threads, of which the first only tries. */
static int share_spin_lock(void)
{
	static int count;
	pthread_t threads[2];

	pthread_spin_init(&spin_lock, PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count_spinning, &count);
	for (int i = 0; i < 100; i++) {
		while (pthread_spin_trylock(&spin_lock))
			;
		++count;
		pthread_spin_unlock(&spin_lock);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pthread_spin_destroy(&spin_lock);
	printf("%d\n", count);
	return 0;
}

/* A child that wakes its parent, and works on. */
static int wake_parent(void)
{
	signal(SIGUSR1, on_signal);
	if (fork()) {
		pause();
		puts("woken");
		return 0;
	}
	usleep(1000);
	kill(getppid(), SIGUSR1);
	for (int i = 0; i < 1000; i++)
		sched_yield();
	return 0;
}

/* A server of IPv6 takes clients of IPv4, whose address it sees as one of its own, if it may. */
static int connect_across(void)
{
	struct sockaddr_in6 own = { .sin6_family = AF_INET6, .sin6_port = htons(7471) }, peer;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(7471) };
	socklen_t length = sizeof(peer);
	char text[INET6_ADDRSTRLEN];
	int only, listener, client;

	inet_pton(AF_INET, "192.0.2.7", &to.sin_addr);
	for (only = 0; only < 2; only++) {
		listener = socket(AF_INET6, SOCK_STREAM, 0);
		client = socket(AF_INET, SOCK_STREAM, 0);
		setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
		if (bind(listener, (struct sockaddr *)&own, sizeof(own)) || listen(listener, 1))
			return 1;
		if (connect(client, (struct sockaddr *)&to, sizeof(to))) {
			printf(", %s\n", strerrorname_np(errno));
			return 0;
		}
		close(accept(listener, (struct sockaddr *)&peer, &length));
		printf("%s", inet_ntop(AF_INET6, &peer.sin6_addr, text, sizeof(text)));
		close(client);
		close(listener);
	}
	return 1;
}

/* Who wins is chosen by the seed. */
static void *print_word(void *word)
{
	pthread_mutex_lock(&lock);
	fputs(word, stdout);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static int race(void)
{
	static char *const words[] = { "a", "b", "c" };
	pthread_t threads[3];
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, print_word, words[i]);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* A worker needs a value after a thousand calls, and takes it without a look whether it is there. */
static _Atomic int value;

static void *work_long(void *unneeded)
{
	int i;

	for (i = 0; i < 1000; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	return value ? unneeded : &lock;
}

static int set_late(void)
{
	pthread_t worker;
	void *wrong;

	pthread_create(&worker, NULL, work_long, NULL);
	sched_yield();
	value = 1;
	pthread_join(worker, &wrong);
	return wrong != NULL;
}

/* The value is safe but for one call out of twenty, during which it is taken away. */
static int take_away(void)
{
	pthread_t worker;
	void *wrong;
	int i;

	value = 1;
	pthread_create(&worker, NULL, work_long, NULL);
	for (i = 0; i < 20; i++) {
		value = i != 10;
		sched_yield();
	}
	pthread_join(worker, &wrong);
	return wrong != NULL;
}

/* For ThreadSanitizer: the same without the lock. */
static void *count_unlocked(void *count)
{
	++*(int *)count;
	return NULL;
}

static int data_race(void)
{
	static int count;
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count_unlocked, &count);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Two allocations, of which --fail says which one fails. */
static int allocate(void)
{
	void *first = malloc(10), *second = malloc(20);

	printf("%s, %s\n", first ? "good" : "failed", second ? "good" : "failed");
	free(second);
	free(first);
	return 0;
}

/* For AddressSanitizer: an id is used after its end. */
static int use_after_end(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return 1;
	rdma_destroy_id(id);
	return id->port_num;
}

/* A child that lives longer than its parent needs it, and its status. */
static int fork_child(void)
{
	struct timespec second = { 1, 0 };
	pid_t pid = fork();
	int status;

	if (!pid) {
		nanosleep(&second, NULL);
		_exit(7);
	}
	if (waitpid(pid, &status, WNOHANG) || waitpid(pid, &status, 0) != pid)
		return 1;
	printf("child: %d\n", WEXITSTATUS(status));
	return 0;
}

/* Says how a read of nothing ends after a signal: with SA_RESTART it goes on, and SIGTERM ends it. */
static void on_alarm(int number)
{
	(void)number;
}

static int read_for_a_second(int flags)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = flags };
	char byte;
	int ends[2];

	sigaction(SIGALRM, &action, NULL);
	if (pipe(ends))
		return 1;
	alarm(1);
	printf("%s\n", read(ends[0], &byte, 1) < 0 ? strerrorname_np(errno) : "read");
	return 0;
}

static int be_interrupted(void)
{
	return read_for_a_second(0);
}

static int be_restarted(void)
{
	return read_for_a_second(SA_RESTART);
}

/* Computes for so long that it would lose its turn, while the other one waits for the stream. */
static void *print_slowly(void *word)
{
	volatile int left;

	flockfile(stdout);
	fputs(word, stdout);
	for (left = 200000000; left; left--)
		;
	puts(word);
	funlockfile(stdout);
	return NULL;
}

static int lock_stdout(void)
{
	pthread_t first, second;

	if (pthread_create(&first, NULL, print_slowly, "a") ||
	    pthread_create(&second, NULL, print_slowly, "a"))
		return 1;
	return pthread_join(first, NULL) || pthread_join(second, NULL);
}

/* ---- Each thread sleeps forever, in another call ---- */

static int nothing[2], full[2]; /* pipes */

static void *read_nothing(void *unused)
{
	char byte;

	(void)unused;
	return read(nothing[0], &byte, 1) == 1 ? unused : NULL;
}

static void *poll_nothing(void *unused)
{
	struct pollfd fd = { .fd = nothing[0], .events = POLLIN };

	poll(&fd, 1, -1);
	return unused;
}

static void *select_nothing(void *unused)
{
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(nothing[0], &fds);
	select(nothing[0] + 1, &fds, NULL, NULL, NULL);
	return unused;
}

static void *epoll_nothing(void *unused)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, nothing[0], &event);
	epoll_wait(fd, &event, 1, -1);
	return unused;
}

static void *fill_pipe(void *unused)
{
	static const char page[4096];

	while (write(full[1], page, sizeof(page)) > 0)
		;
	return unused;
}

static void *wait_for_condition(void *unused)
{
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&lock);
	pthread_cond_wait(&never, &lock);
	return unused;
}

static void *wait_for_semaphore(void *unused)
{
	sem_t never;

	sem_init(&never, 0, 0);
	sem_wait(&never);
	return unused;
}

static void *pause_forever(void *unused)
{
	pause();
	return unused;
}

static void *await_cm_event(void *unused)
{
	struct rdma_cm_event *event;

	rdma_get_cm_event(rdma_create_event_channel(), &event);
	return unused;
}

static void *await_device(void *unused)
{
	await_async_event();
	return unused;
}

static int sleep_everywhere(void)
{
	static void *(*const sleepers[])(void *) = {
		read_nothing,       poll_nothing,       select_nothing, epoll_nothing,  fill_pipe,
		wait_for_condition, wait_for_semaphore, pause_forever,  await_cm_event, await_device
	};
	pthread_t thread;
	size_t i;

	if (pipe(nothing) || pipe(full))
		return 1;
	for (i = 0; i < sizeof(sleepers) / sizeof(sleepers[0]); i++)
		pthread_create(&thread, NULL, sleepers[i], NULL);
	return pthread_join(thread, NULL);
}

static const struct {
	const char *name;
	int (*run)(void);
} programs[] = {
	{ "forget", forget },
	{ "lock-twice", lock_twice },
	{ "lock-stdout", lock_stdout },
	{ "sleep-everywhere", sleep_everywhere },
	{ "spin", spin },
	{ "count-hour", count_an_hour },
	{ "trap-counter", trap_counter },
	{ "spin-on-memory", spin_on_memory },
	{ "compute", compute },
	{ "print-errno-late", print_errno_late },
	{ "write-to-nobody", write_to_nobody },
	{ "await-sigterm", await_sigterm },
	{ "crash", crash },
	{ "room", print_room },
	{ "hour", sleep_an_hour },
	{ "free-early", free_early },
	{ "tick", tick },
	{ "ring", ring },
	{ "spin-lock", share_spin_lock },
	{ "wake-parent", wake_parent },
	{ "across", connect_across },
	{ "race", race },
	{ "set-late", set_late },
	{ "take-away", take_away },
	{ "data-race", data_race },
	{ "use-after-end", use_after_end },
	{ "allocate", allocate },
	{ "unknown-wait", call_unknown_wait },
	{ "unknown-opcode", post_unknown },
	{ "fill", fill_memory },
	{ "async-event", await_async_event },
	{ "fork", fork_child },
	{ "interrupted", be_interrupted },
	{ "restarted", be_restarted },
};

/* "later SECONDS PROGRAM [ARGUMENT...]": that program, but later. */
static int run_later(char **words)
{
	sleep((unsigned int)strtoul(words[0], NULL, 10));
	execvp(words[1], words + 1);
	return 127;
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc > 3 && !strcmp(argv[1], "later"))
		return run_later(argv + 2);
	for (i = 0; argc == 2 && i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (!strcmp(programs[i].name, argv[1]))
			return programs[i].run();
	}
	return 2;
}
