# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds every program of every stage once more, with fake verbs (tests/fake/) in place of the RDMA
# libraries and with sanitizers, each into a test program of its own; `make fake-build`.

FAKE = $(BUILD)/tests/fake
# Stages that cannot be run over fake verbs, each with its reason in FAKE_SKIPPED.<stage>.
FAKE_SKIPPED =
# Asked only when one is linked, as in tests.mk.
FAKE_LIBS = $(shell pkg-config --libs json-c) -lm
FAKE_CFLAGS = -O1 -g -fno-omit-frame-pointer
FAKE_SANITIZE.asan = -fsanitize=address,undefined -fno-sanitize-recover=all
# It knows nothing of fences, and gcc says so: what they are for is atomic here, on either side.
FAKE_SANITIZE.tsan = -fsanitize=thread $(if $(findstring clang,$(CC)),,-Wno-tsan)
FAKE_WRAP = malloc calloc posix_memalign free freeaddrinfo pthread_create eventfd fcntl poll ppoll sigaction \
	    getaddrinfo clock_gettime nanosleep alarm pthread_cond_clockwait getrusage fopen read
# Of a program that makes its connections without the CM: tests/fake/sockets.c.
FAKE_WRAP += socket connect bind listen accept4 getsockname getpeername getsockopt setsockopt send recv \
	     shutdown close getrandom
# A program that calls one of these does not link: tests/fake/memory.c would not know of its memory.
FAKE_WRAP += realloc reallocarray aligned_alloc strdup strndup asprintf vasprintf getline open_memstream

# Their main gets another name, as the test program has its own.
define fake_rules
$(FAKE)/$(1)/tests/%.o: tests/%.c
	@mkdir -p $$(@D)
	$$(SAY) CC "$$< ($(1))"
	$$(Q)$$(COMPILE) -Werror $$(TEST_CFLAGS) $$(FAKE_CFLAGS) $$(FAKE_SANITIZE.$(1)) -c $$< -o $$@

$(FAKE)/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	$$(SAY) CC "$$< ($(1))"
	$$(Q)$$(COMPILE) -Wno-missing-prototypes $$(FAKE_CFLAGS) $$(FAKE_SANITIZE.$(1)) \
		-Dmain=program_main -c $$< -o $$@

$(FAKE)/$(1)/libstages.a: $$(STAGE_SOURCES:%.c=$(FAKE)/$(1)/%.o) Makefile
	$$(SAY) AR $$@
	@rm -f $$@
	$$(Q)$$(AR) rcsT $$@ $$(filter %.o,$$^)
endef
$(foreach sanitizer,asan tsan,$(eval $(call fake_rules,$(sanitizer))))

# fake_program SANITIZER STAGE ROLE
define fake_program
$(FAKE)/$(1)/$(2)/$(3): $$(patsubst %.c,$(FAKE)/$(1)/%.o,$$(call sources,$(2),$(3)) \
		$$(ROOM_SOURCES) $$(wildcard tests/fake/*.c)) $(FAKE)/$(1)/libstages.a
	@mkdir -p $$(@D)
	$$(SAY) LD $$@
	$$(Q)$$(CC) $$(FAKE_SANITIZE.$(1)) $$(LDFLAGS) $$(call stage_is,$(2)) $$(FAKE_WRAP:%=-Wl,--wrap=%) $$^ $$(FAKE_LIBS) -pthread -o $$@
FAKE_PROGRAMS += $(FAKE)/$(1)/$(2)/$(3)
endef
# All of them with AddressSanitizer; those whose parts have threads with ThreadSanitizer, too: in make check
# not those that have their threads from another one.
FAKE_STAGES = $(filter-out $(FAKE_SKIPPED),$(STAGES) $(OTHERS))
FAKE_THREADS_ELSEWHERE = $(if $(TESTS_ALL),,ping-sr-2e ping-sr-5 ping-rdma-1 ping-rdma-2 \
			 ping-rdma-3 blast-rdma-1 count-atomic-1 pubsub-rdma-2 talk-rdma-0)
FAKE_THREADED := $(filter $(FAKE_STAGES),$(notdir $(patsubst %/stage.c,%,$(shell grep -l our_cm_thread */stage.c beyond/*/stage.c))))
fake_programs = $(foreach stage,$(2),$(foreach role,client server,\
	$(eval $(call fake_program,$(1),$(stage),$(role)))))
$(call fake_programs,asan,$(FAKE_STAGES))
$(call fake_programs,tsan,$(filter-out $(FAKE_THREADS_ELSEWHERE) pubsub-rdma-1,$(FAKE_THREADED)))
# The publisher has a thread of its own, the subscriber has not.
$(foreach role,$(if $(TESTS_ALL),client) server,$(eval $(call fake_program,tsan,pubsub-rdma-1,$(role))))

# Programs of one file take nothing of the suite's; the tests that are linked with them do.
define fake_one_file
$(FAKE)/asan/$(2): $$(patsubst %.c,$(FAKE)/asan/%.o,$(1).c \
		$$(filter-out common/% measure/run%,$$(ROOM_SOURCES)) $$(wildcard tests/fake/*.c))
	@mkdir -p $$(@D)
	$$(SAY) LD $$@
	$$(Q)$$(CC) $$(FAKE_SANITIZE.asan) $$(LDFLAGS) $$(FAKE_WRAP:%=-Wl,--wrap=%) $$^ $$(FAKE_LIBS) -pthread -o $$@
FAKE_PROGRAMS += $(FAKE)/asan/$(2)
endef
$(foreach program,$(ONE_FILE),$(eval $(call fake_one_file,$(program),$(program:beyond/%=%))))

fake-build: $(FAKE_PROGRAMS) ## build the programs over fake verbs

# The same with a million events through each way of waiting, which takes minutes.
fake-million: fake-build
	@FAKE_LIMIT_MS=$${FAKE_LIMIT_MS:-600000} FAKE_LIMIT_S=$${FAKE_LIMIT_S:-1200} tests/fakes 1000000

# For course/, which links them with a student's parts: STAGE, ROLE, SANITIZER.
print-fake-parts:
	@$(MAKE) --no-print-directory --silent print-parts
	@echo $(ROOM_SOURCES) $(wildcard tests/fake/*.c)

print-fake-compile:
	$(info $(COMPILE) -Wno-missing-prototypes $(FAKE_CFLAGS) $(FAKE_SANITIZE.$(SANITIZER)) -Dmain=program_main)@:

print-fake-link:
	$(info $(CC) $(FAKE_SANITIZE.$(SANITIZER)) $(LDFLAGS) $(call stage_is,$(STAGE)) $(FAKE_WRAP:%=-Wl,--wrap=%))
	$(info $(FAKE_LIBS) -pthread)@:

print-fake:
	@echo $(sort $(FAKE_PROGRAMS:$(FAKE)/%=%))

print-fake-skipped:
	@$(foreach stage,$(FAKE_SKIPPED),echo "$(stage): $(FAKE_SKIPPED.$(stage))";):

.PHONY: fake-build fake-million print-fake-parts print-fake-compile print-fake-link print-fake print-fake-skipped
