# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds every file of every stage once more, with fake verbs (tests/fake/) in place of the RDMA libraries,
# into one test program for each sanitizer: build/tests/fake/SANITIZER/programs; `make fake-build`.

FAKE = $(BUILD)/tests/fake
# ThreadSanitizer takes as long to compile for as the other, and to run: make check-long has it.
FAKE_SANITIZERS ?= asan $(if $(TESTS_ALL),tsan)
# Asked only when one is linked, as in tests.mk.
FAKE_LIBS = $(shell pkg-config --libs json-c) -lm -pthread
FAKE_CFLAGS = -O1 -g1 -fno-omit-frame-pointer
FAKE_SANITIZE.asan = -fsanitize=address,undefined -fno-sanitize-recover=all
# It knows nothing of fences, and gcc says so: what they are for is atomic here, on either side.
FAKE_SANITIZE.tsan = -fsanitize=thread $(if $(findstring clang,$(CC)),,-Wno-tsan)
FAKE_WRAP = malloc calloc posix_memalign free freeaddrinfo pthread_create eventfd fcntl poll ppoll epoll_wait timerfd_settime sigaction \
	    getaddrinfo clock_gettime nanosleep alarm pthread_cond_clockwait getrusage fopen read
# Of a program that makes its connections without the CM: tests/fake/sockets.c.
FAKE_WRAP += socket connect bind listen accept4 getsockname getpeername getsockopt setsockopt send recv \
	     shutdown close getrandom
# A program that calls one of these does not link: tests/fake/memory.c would not know of its memory.
FAKE_WRAP += realloc reallocarray aligned_alloc strdup strndup asprintf vasprintf getline open_memstream
FAKE_LINK = $(CC) $(FAKE_SANITIZE.$(1)) $(LDFLAGS) -rdynamic -Wl,--defsym=our_stage=fake_stage $(FAKE_WRAP:%=-Wl,--wrap=%)
# Each main gets the path of its file as its name, as the test program has its own.
FAKE_COMPILE = $(COMPILE) $(FAKE_CFLAGS) $(FAKE_SANITIZE.$(1)) $(if $(filter tests/%,$(2)),-Werror $(TEST_CFLAGS),\
	       $(if $(filter examples/%,$(2)),-Icommon) -Wno-missing-prototypes -Dmain=$(subst -,_,$(subst /,_,$(2))))

FAKE_OWN = $(ROOM_SOURCES) $(wildcard tests/fake/*.c)
FAKE_EXAMPLES = $(addprefix examples/,$(addsuffix .c,echo_client echo_server epoll_server loop_client srq_server plain/echo_client plain/echo_server))
FAKE_SOURCES = $(FAKE_OWN) $(MAINS) $(STAGE_SOURCES) $(FOLDERS:=/stage.c) $(ONE_FILE:=.c) $(FAKE_EXAMPLES)

define fake_rules
$(FAKE)/$(1)/%.o: %.c
	$$(call run,CC,"$$< ($(1))",$$(call FAKE_COMPILE,$(1),$$*) -c $$< -o $$@)
$(FAKE)/$(1)/programs: $$(patsubst %.c,$(FAKE)/$(1)/%.o,$(FAKE_SOURCES))
	$$(call run,LD,$$@,$$(call FAKE_LINK,$(1)) $$^ $$(FAKE_LIBS) -o $$@)
endef
$(foreach sanitizer,asan tsan,$(eval $(call fake_rules,$(sanitizer))))

fake-build: $(FAKE_SANITIZERS:%=$(FAKE)/%/programs) ## build the programs over fake verbs

# The same with a million events through each way of waiting, which takes minutes.
fake-million: fake-build
	@FAKE_LIMIT_MS=600000 FAKE_LIMIT_S=1200 FAKE_EVENTS=1000000 $(PYTEST) -n $(shell nproc) tests/fake -k many --timeout 0

# For course/, which links one program with a student's parts: STAGE, ROLE, SANITIZER.
print-fake-parts:
	@$(MAKE) --no-print-directory --silent print-parts
	@echo $(FAKE_OWN)
print-fake-compile:
	$(info $(call FAKE_COMPILE,$(SANITIZER),program/$(ROLE)_main))@:
print-fake-link:
	$(info $(call FAKE_LINK,$(SANITIZER)))
	$(info $(FAKE_LIBS))@:
