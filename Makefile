# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# One build for everything: `make help` lists the targets.

.DEFAULT_GOAL = all

CC ?= cc
CFLAGS ?= -O2 -g
LDFLAGS ?=
override CPPFLAGS += -I. -D_GNU_SOURCE
WARNINGS = -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes
# In CI (CI=true) a warning ends the build; a newer compiler of yours may warn of more.
WARNINGS += $(if $(CI),-Werror)
COMPILE = $(CC) -std=c11 $(CPPFLAGS) $(CFLAGS) $(WARNINGS) -MMD -MP
LIBS = -lrdmacm -libverbs -pthread
BUILD = build

# `make V=1` shows whole commands, else a word and the file.
Q = $(if $(V),,@)
SAY = @$(if $(V),:,printf '  %-3s %s\n')

# The one table of the suite: which parts make a stage's programs, and, by their paths, which
# stage each part comes from. Nothing else knows it.
STAGES = ping-sr-0 ping-sr-1 ping-sr-2e ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5 blast-sr-2 ping-srq-4 \
	 ping-rc-0 ping-rdma-1 ping-rdma-2 ping-rdma-3 \
	 blast-rdma-1 count-atomic-1

ping-sr-0.parts  = ping-sr-0/ping.c ping-sr-0/user_data.c ping-sr-0/report_results.c \
		   ping-sr-0/cm_events.c ping-sr-0/completions.c ping-sr-0/connect_info.c
ping-sr-0.client = ping-sr-0/client.c ping-sr-0/client_operation.c ping-sr-0/pings.c
ping-sr-0.server = ping-sr-0/server.c ping-sr-0/serve_clients.c ping-sr-0/admit.c ping-sr-0/agent.c \
		   ping-sr-0/agent_operation.c

ping-sr-1.parts  = $(filter-out %/connect_info.c,$(ping-sr-0.parts)) \
		   ping-sr-1/connect_info.c ping-sr-1/connect_info_wire.c
ping-sr-1.client = $(ping-sr-0.client)
ping-sr-1.server = $(ping-sr-0.server)

# Topics of their own: what the others need of them is in a header. Whoever reads the step from one stage to
# the next can leave them for later, and `make deltas` counts them by themselves.
ping-sr-1.aside = ping-sr-1/connect_info_wire.c
ping-sr-2.aside = ping-sr-2/keepalive.c ping-sr-2/keepalive.h

ping-sr-2e.parts  = $(filter-out %/cm_events.c,$(ping-sr-1.parts)) ping-sr-2e/cm_events.c
ping-sr-2e.client = $(ping-sr-1.client)
ping-sr-2e.server = $(ping-sr-1.server)

ping-sr-2.parts  = $(filter-out %/cm_events.c,$(ping-sr-2e.parts)) \
		   ping-sr-2/cm_events.c ping-sr-2/cm_event_thread.c ping-sr-2/keepalive.c
ping-sr-2.client = $(ping-sr-2e.client)
ping-sr-2.server = $(filter-out %/serve_clients.c,$(ping-sr-2e.server)) ping-sr-2/serve_clients.c

ping-sr-3.parts  = $(filter-out %/completions.c,$(ping-sr-2.parts)) \
		   ping-sr-3/completions.c ping-sr-3/comp_channel.c
ping-sr-3.client = $(ping-sr-2.client)
ping-sr-3.server = $(ping-sr-2.server)

ping-sr-4.parts  = $(filter-out %/cm_events.c %/cm_event_thread.c %/completions.c %/comp_channel.c, \
		     $(ping-sr-3.parts)) \
		   ping-sr-4/cm_events.c ping-sr-4/completions.c ping-sr-4/comp_channels.c ping-sr-4/poll.c
ping-sr-4.client = $(ping-sr-3.client)
ping-sr-4.server = $(filter-out %/serve_clients.c %/agent.c,$(ping-sr-3.server)) \
		   ping-sr-4/serve_clients.c ping-sr-4/loop.c ping-sr-4/reactions.c ping-sr-4/agent.c

ping-sr-5.before = ping-sr-3
ping-sr-5.parts  = $(filter-out %/completions.c,$(ping-sr-3.parts)) \
		   ping-sr-5/completions.c ping-sr-5/spin.c ping-sr-5/wake_up.c
ping-sr-5.client = $(ping-sr-3.client)
ping-sr-5.server = $(ping-sr-3.server)

blast-sr-2.before = ping-sr-2
blast-sr-2.parts  = $(filter-out %/ping.c,$(ping-sr-2.parts)) \
		    blast-sr-2/blast.c blast-sr-2/chains.c blast-sr-2/credits.c blast-sr-2/drain.c \
		    blast-sr-2/options.c blast-sr-2/sequence.c
blast-sr-2.client = ping-sr-0/client.c blast-sr-2/client_operation.c
blast-sr-2.server = $(filter-out %/agent_operation.c,$(ping-sr-2.server)) blast-sr-2/agent_operation.c

# Connections by bare verbs, without the CM. What of common/ the stage has files of its own for is not
# linked, and no more is librdmacm.
ping-rc-0.before = ping-sr-0
ping-rc-0.parts  = $(filter-out %/cm_events.c,$(ping-sr-0.parts)) \
		   ping-rc-0/cm_events.c ping-rc-0/connection_management.c ping-rc-0/disconnect.c \
		   ping-rc-0/cm_event.c ping-rc-0/queue_pair.c ping-rc-0/device_choice.c \
		   ping-rc-0/exchange.c ping-rc-0/mistakes.c
ping-rc-0.client = $(ping-sr-0.client)
ping-rc-0.server = $(ping-sr-0.server)
ping-rc-0.without = common/connection_management.c common/disconnect.c common/cm_event.c common/cm_qp.c
ping-rc-0.libs   = -libverbs -pthread

# One-sided stages: the server's CPU has nothing to do with what moves, and sleeps.
ping-rdma-1.before = ping-sr-3
ping-rdma-1.parts  = $(filter-out %/ping.c %/completions.c,$(ping-sr-2.parts)) \
		     ping-rdma-1/ping.c ping-rdma-1/transfer.c ping-rdma-1/exchange.c \
		     ping-rdma-1/one_sided.c
ping-rdma-1.client = ping-sr-0/client.c ping-sr-0/pings.c ping-sr-0/completions.c \
		     ping-rdma-1/client_operation.c ping-rdma-1/client_exchange.c ping-rdma-1/round_trip.c
ping-rdma-1.server = $(filter-out %/agent_operation.c,$(ping-sr-2.server)) \
		     ping-rdma-1/agent_operation.c ping-rdma-1/account.c \
		     ping-sr-3/completions.c ping-sr-3/comp_channel.c

ping-rdma-2.parts  = $(ping-rdma-1.parts)
ping-rdma-2.client = $(filter-out %/round_trip.c,$(ping-rdma-1.client)) ping-rdma-2/round_trip.c
ping-rdma-2.server = $(ping-rdma-1.server)

# Both sides spin, on memory.
ping-rdma-3.parts  = $(filter-out %/ping.c %/user_data.c,$(ping-rdma-2.parts)) ping-sr-0/completions.c \
		     ping-rdma-3/ping.c ping-rdma-3/watch.c ping-rdma-3/user_data.c
ping-rdma-3.client = $(filter-out %/completions.c %/round_trip.c,$(ping-rdma-2.client)) \
		     ping-rdma-3/round_trip.c
ping-rdma-3.server = $(filter-out %/agent_operation.c %/account.c %/completions.c %/comp_channel.c, \
		       $(ping-rdma-2.server)) ping-rdma-3/agent_operation.c

# A stream of WRITEs.
blast-rdma-1.before = ping-rdma-1
blast-rdma-1.parts  = $(filter-out %/ping.c,$(ping-rdma-1.parts)) blast-rdma-1/blast.c
blast-rdma-1.client = ping-sr-0/client.c ping-sr-0/completions.c ping-rdma-1/client_exchange.c \
		      blast-rdma-1/client_operation.c blast-rdma-1/write_chain.c
blast-rdma-1.server = $(filter-out %/account.c,$(ping-rdma-1.server)) blast-rdma-1/account.c

# One piece of memory for all clients.
count-atomic-1.before = ping-rdma-1
count-atomic-1.parts  = $(filter-out %/ping.c %/transfer.c %/user_data.c,$(ping-rdma-1.parts)) \
			count-atomic-1/count.c
count-atomic-1.client = $(filter-out %/client_operation.c %/round_trip.c,$(ping-rdma-1.client)) \
			ping-rdma-1/transfer.c count-atomic-1/client_operation.c count-atomic-1/atomics.c
count-atomic-1.server = $(ping-rdma-1.server) count-atomic-1/words.c count-atomic-1/shared_memory.c

# What moves is the server's part alone: its client is ping-sr-4's.
ping-srq-4.before = ping-sr-4
ping-srq-4.parts  = $(filter-out %/ping.c,$(ping-sr-4.parts))
ping-srq-4.client = $(ping-sr-4.client) ping-sr-0/ping.c
ping-srq-4.server = $(filter-out %/loop.c %/agent_operation.c,$(ping-sr-4.server)) \
		    ping-srq-4/loop.c ping-srq-4/agent_operation.c ping-srq-4/transfer.c ping-srq-4/pool.c ping-srq-4/refill.c

# Made as the stages are, of parts, but of another shape: what they do is no message to and fro, which
# the tests that run all stages, and bench/, take for granted. So they are not in STAGES, and have suites
# of their own.
OTHERS = pubsub-rdma-1 pubsub-rdma-2 talk-rdma-0

# The publisher knows nothing of those who read.
pubsub-rdma-1.before = ping-rdma-1
pubsub-rdma-1.parts  = $(filter-out %/ping.c %/transfer.c %/user_data.c,$(ping-rdma-1.parts))
pubsub-rdma-1.client = $(filter-out %/round_trip.c,$(ping-rdma-1.client)) ping-rdma-1/transfer.c \
		       pubsub-rdma-1/subscriber.c pubsub-rdma-1/reader.c pubsub-rdma-1/record.c
pubsub-rdma-1.server = $(ping-rdma-1.server) pubsub-rdma-1/publisher.c pubsub-rdma-1/publication.c \
		       pubsub-rdma-1/record.c count-atomic-1/shared_memory.c

# The publisher's agents WRITE; a subscriber sleeps between its looks at memory.
pubsub-rdma-2.before = pubsub-rdma-1
pubsub-rdma-2.parts  = $(pubsub-rdma-1.parts) ping-rdma-1/transfer.c pubsub-rdma-1/record.c \
		       ping-sr-3/completions.c ping-sr-3/comp_channel.c
pubsub-rdma-2.client = $(filter-out %/completions.c %/round_trip.c,$(ping-rdma-1.client)) \
		       pubsub-rdma-2/subscriber.c pubsub-rdma-1/reader.c
pubsub-rdma-2.server = $(filter-out %/completions.c %/comp_channel.c %/agent_operation.c %/account.c, \
			 $(ping-rdma-1.server)) \
		       pubsub-rdma-2/agent_operation.c pubsub-rdma-2/publisher.c pubsub-rdma-1/publication.c

# Both sides do the same, and the server with one client after the other: it has one terminal.
talk-rdma-0.before = ping-rdma-3
talk-rdma-0.parts  = $(filter-out %/ping.c %/transfer.c %/user_data.c,$(ping-rdma-1.parts)) \
		     ping-sr-3/completions.c ping-sr-3/comp_channel.c \
		     talk-rdma-0/sides.c talk-rdma-0/talk.c talk-rdma-0/slot.c talk-rdma-0/show.c \
		     talk-rdma-0/typed.c
talk-rdma-0.client = ping-sr-0/client.c
talk-rdma-0.server = ping-sr-0/server.c ping-sr-0/admit.c ping-sr-0/agent.c ping-sr-0/serve_clients.c

# All nine ways to wait that the course has (page 194): a part for CM events and one for completions,
# each chosen by itself: no channel, a channel, a channel that does not block.
NINE_CM.none          = ping-sr-0/cm_events.c ping-sr-0/serve_clients.c
NINE_CM.channel       = ping-sr-2/cm_events.c ping-sr-2/cm_event_thread.c ping-sr-2/keepalive.c \
			ping-sr-2/serve_clients.c
NINE_CM.nonblocking   = ping-sr-4/cm_events.c ping-sr-2/keepalive.c ping-sr-0/serve_clients.c
NINE_COMP.none        = ping-sr-0/completions.c
NINE_COMP.channel     = ping-sr-3/completions.c ping-sr-3/comp_channel.c
NINE_COMP.nonblocking = ping-sr-4/completions.c ping-sr-4/comp_channels.c
NINE_WAYS = none channel nonblocking
NINE = $(foreach cm,$(NINE_WAYS),$(foreach completions,$(NINE_WAYS),$(cm)-$(completions)))

PROGRAMS = $(foreach stage,$(STAGES) $(OTHERS),$(stage)/client $(stage)/server)

# Each is one file, which takes nothing of the suite: it has to compile as it is, by itself.
ONE_FILE = ping-ep-0/client ping-ep-0/server

# Looks at devices, and stands beside the stages: of the suite it takes what any program needs.
DEVICES = devices/devices

# The rooms that are the same for every stage: the RDMA, and what any program needs besides. Those to
# the left may call those to the right, never the other way round.
ROOMS = common measure program
ROOM_SOURCES = $(wildcard $(ROOMS:=/*.c))
ROOM_LIBS = $(ROOMS:%=$(BUILD)/lib%.a)

include verbs-trace/verbs-trace.mk common-next/library.mk

all: $(PROGRAMS) $(ONE_FILE) $(DEVICES) $(EXAMPLES) verbs-trace ## build all programs (the default)

# Tried once, before anything is compiled: whether the compiler finds the headers, of the packages or elsewhere.
HEADERS_FOUND = $(BUILD)/headers-found
$(HEADERS_FOUND):
	@mkdir -p $(@D)
	@printf '#include <%s>\n' rdma/rdma_cma.h infiniband/verbs.h | $(CC) $(CPPFLAGS) -fsyntax-only -x c - || \
		{ tools/packages tools/packages-build.txt; exit 1; }
	@touch $@

# Every file is compiled once, for all programs.
$(BUILD)/%.o: %.c | $(HEADERS_FOUND)
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(COMPILE) -c $< -o $@

$(TOOL_OBJECTS) $(ONE_FILE): | $(HEADERS_FOUND)

define room_rules
$(BUILD)/lib$(1).a: $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)/*.c))
	$$(SAY) AR $$@
	@rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$^
endef
$(foreach room,$(ROOMS),$(eval $(call room_rules,$(room))))

# sources STAGE ROLE: those of a program, besides the rooms. Of the rooms the linker takes what no part has.
sources = $(1)/stage.c $($(1).$(2)) $($(1).parts)

# A program's stage: what its stage.c defines, by the name that program/ has for it.
stage_is = -Wl,--defsym=our_stage=$(subst -,_,$(1))

define stage_rules
$(1)/client: $(patsubst %.c,$(BUILD)/%.o,$(call sources,$(1),client)) $(ROOM_LIBS)
$(1)/server: $(patsubst %.c,$(BUILD)/%.o,$(call sources,$(1),server)) $(ROOM_LIBS)
$(1)/client $(1)/server: STAGE_IS = $(call stage_is,$(1))
$(if $($(1).libs),$(1)/client $(1)/server: LIBS = $($(1).libs))
endef
$(foreach stage,$(STAGES) $(OTHERS),$(eval $(call stage_rules,$(stage))))

$(ONE_FILE): %: %.c
	$(SAY) CC $<
	$(Q)$(CC) $(CFLAGS) $(WARNINGS) $(LDFLAGS) $< -lrdmacm -libverbs -o $@

$(DEVICES): $(patsubst %.c,$(BUILD)/%.o,$(wildcard devices/*.c)) $(BUILD)/libmeasure.a $(BUILD)/libprogram.a
	$(SAY) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -lm -o $@

NINE_PARTS = $(filter-out %/cm_events.c %/completions.c,$(ping-sr-1.parts))
# nine_rules CM COMPLETIONS
define nine_rules
$(BUILD)/nine/$(1)-$(2)/stage.o: nine/stage.c
	@mkdir -p $$(@D)
	$$(SAY) CC "$$< ($(1)-$(2))"
	$$(Q)$$(COMPILE) -DOUR_NAME='"$(1)-$(2)"' -c $$< -o $$@

$(BUILD)/nine/$(1)-$(2)/client: $(patsubst %.c,$(BUILD)/%.o,$(sort $(ping-sr-1.client) \
		$(NINE_PARTS) $(filter-out %/serve_clients.c,$(NINE_CM.$(1))) $(NINE_COMP.$(2)) ping-sr-4/poll.c))
$(BUILD)/nine/$(1)-$(2)/server: $(patsubst %.c,$(BUILD)/%.o,$(sort \
		$(filter-out %/serve_clients.c,$(ping-sr-1.server)) \
		$(NINE_PARTS) $(NINE_CM.$(1)) $(NINE_COMP.$(2)) ping-sr-4/poll.c))
NINE_PROGRAMS += $(BUILD)/nine/$(1)-$(2)/client $(BUILD)/nine/$(1)-$(2)/server
$(BUILD)/nine/$(1)-$(2)/client $(BUILD)/nine/$(1)-$(2)/server: $(BUILD)/nine/$(1)-$(2)/stage.o $(ROOM_LIBS)
$(BUILD)/nine/$(1)-$(2)/client $(BUILD)/nine/$(1)-$(2)/server: STAGE_IS = $(call stage_is,nine)
endef
$(foreach cm,$(NINE_WAYS),$(foreach completions,$(NINE_WAYS),\
	$(eval $(call nine_rules,$(cm),$(completions)))))

# ping-rc-0 asleep until there is a completion, as ibv_rc_pingpong -e is: bench/ compares the two.
BARE_EVENTS = $(BUILD)/ping-rc-0-events/client $(BUILD)/ping-rc-0-events/server
bare_events_parts = $(filter-out %/completions.c,$(ping-rc-0.parts)) $(NINE_COMP.channel)
$(foreach role,client server,$(eval $(BUILD)/ping-rc-0-events/$(role): \
	$(patsubst %.c,$(BUILD)/%.o,ping-rc-0/stage_events.c $(ping-rc-0.$(role)) $(bare_events_parts)) $(ROOM_LIBS)))
$(BARE_EVENTS): LIBS = $(ping-rc-0.libs)
$(BARE_EVENTS): STAGE_IS = $(call stage_is,ping-rc-0-events)

bare-events: $(BARE_EVENTS) ## build ping-rc-0 with a completion channel: build/ping-rc-0-events/{client,server}

# What bench/compare starts besides the stages.
BENCH = $(addprefix $(BUILD)/bench/,tcp_ping wake_up statistics_cost)
$(BENCH): $(BUILD)/bench/%: bench/%.c $(BUILD)/libmeasure.a $(BUILD)/libprogram.a
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(COMPILE) $(LDFLAGS) $< $(BUILD)/libmeasure.a $(BUILD)/libprogram.a $(LIBS) -o $@

bench-build: all nine bare-events $(BENCH)

nine: $(NINE_PROGRAMS) ## build all nine combinations of waiting for events and completions: build/nine/CM-COMPLETIONS/{client,server}

$(PROGRAMS) $(NINE_PROGRAMS) $(BARE_EVENTS):
	@mkdir -p $(@D)
	$(SAY) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(STAGE_IS) $(filter %.o,$^) $(ROOM_LIBS) $(LIBS) -o $@

-include course/course.mk tests/tests.mk tests/tracer/tracer.mk tests/pairs.mk tests/fake/fake.mk tests/fuzz/fuzz.mk

# The kernel of the VM, for whatever runs in it: lab/run reads this.
ifeq ($(origin KERNEL),command line)
export LAB_KERNEL = $(KERNEL)
endif

# Who does not say how many jobs make may run gets one for each CPU.
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

# The two commands of the README install what they need first. Where that is done, they cost no
# more than a look at the list of packages.
demo: ## see two processes ping-pong over soft-RoCE and soft-iWARP (or RDMA_ADDR=address)
	@tools/packages --install tools/packages-build.txt lab/packages.txt
	@$(MAKE) --no-print-directory $(JOBS) all
	@tools/demo

# COMPARE="--quick" and the like go to the program.
compare: ## measure all ways to wait, and other projects' programs: build/report/index.html
	@tools/packages --install tools/packages-build.txt lab/packages.txt bench/packages.txt
	@$(MAKE) --no-print-directory $(JOBS) bench-build
	@bench/compare $(COMPARE)

check: ## run the tests; ten minutes at most
	@tools/packages --install tools/packages-build.txt lab/packages.txt tests/packages.txt
	@$(MAKE) --no-print-directory $(JOBS) all tests-build tracer-build fake-build fuzz-build pairs-build
	@tests/run

# Before a release, as root: see tests/README.md.
check-long: ## run all tests, also those that take longer, and print a table of the results
	@tools/packages --install tools/packages-build.txt lab/packages.txt tests/packages.txt \
		tests/packages-sanitize.txt tests/packages-long.txt
	@$(MAKE) --no-print-directory TESTS_ALL=1 $(JOBS) all nine tests-build tracer-build \
		fake-build fuzz-build pairs-build probe verbs-trace course-build
	@tests/long

check-lab: ## run all tests of the lab itself, also the slow ones
	@tools/packages --install lab/packages.txt
	@lab/test

# Not part of `check`: see tests/README.md for when to run them.
tsan: all ## test the programs with ThreadSanitizer, in the lab
	@tests/sanitize thread

asan: all ## test them with AddressSanitizer and UndefinedBehaviorSanitizer
	@tests/sanitize address

memcheck: all ## test them with valgrind
	@tools/packages --install tests/packages-sanitize.txt
	@tests/sanitize memcheck

soak: all ## run servers for minutes while clients are killed at random (see tests/soak --help)
	@tests/soak

fuzz: ## run each fuzzing harness for FUZZ_SECONDS=60, with new inputs each time
	@tests/fuzzers --missing $(FUZZ_CC)
	@$(MAKE) --no-print-directory fuzz-programs
	@tests/fuzzers --seconds $(FUZZ_SECONDS)

coverage: ## print which lines of the programs are run by the tests that need no device
	@tools/packages --install tools/packages-build.txt tests/packages.txt
	@tests/coverage

# Slow, hence no part of `make check`; MUTANTS="--folders common" and the like go to the script.
mutants: ## N=50 SEED=1: plant faults at random in the programs, and count those that a test notices
	@tools/packages --install tools/packages-build.txt tests/packages.txt
	@tests/mutate/run $(if $(N),--count $(N)) $(if $(SEED),--seed $(SEED)) $(MUTANTS)

lint: ## check the style of every source and script
	@tools/packages --install tools/packages-build.txt tools/packages-lint.txt
	@tools/lint

# What a reader can ask of a stage.
show: ## STAGE=ping-sr-3: list the stage's files, and the stage that each comes from
	@tools/stage show $(STAGE)

delta: ## STAGE=ping-sr-3: print the diff against the stage before
	@tools/stage delta $(STAGE)

deltas: ## print how many lines each stage's delta has
	@echo "Lines of code, without comments, that a stage's own files add to the stage whose lesson it goes"
	@echo "on from, and that are gone with the files that they replace (make delta STAGE=... shows them):"
	@for stage in $(wordlist 2,99,$(STAGES)) $(OTHERS); do tools/stage size $$stage; done

picture: ## STAGE=ping-sr-3: run it, and draw its trace: build/picture/STAGE.html
	$(if $(filter $(STAGES) $(OTHERS) ping-ep-0,$(STAGE)),,$(error Say which stage, STAGE=one of: $(STAGES) $(OTHERS) ping-ep-0))
	@$(MAKE) --no-print-directory $(JOBS) verbs-trace $(STAGE)/client $(STAGE)/server
	@tools/picture $(STAGE)

# CAPTURE="--iwarp --loss 5" and the like go to the program.
capture: ## STAGE=ping-sr-3: run it between two hosts of the lab, and print its packets as a ladder
	@tools/packages --install tools/packages-build.txt lab/packages.txt tools/packages-capture.txt
	$(if $(filter $(STAGES) $(OTHERS) ping-ep-0,$(STAGE)),,$(error Say which stage, STAGE=one of: $(STAGES) $(OTHERS) ping-ep-0))
	@$(MAKE) --no-print-directory --silent $(JOBS) verbs-trace $(STAGE)/client $(STAGE)/server
	@python3 -B -m tools.capture $(STAGE) $(CAPTURE)

docs: ## build the site, which needs no network to be read: build/site/html/index.html (NOTES=1: build/site-notes, for instructors)
	@tools/packages --install tools/packages-build.txt tools/packages-docs.txt
	@python3 -B -m tools.website $(if $(NOTES),--notes $(BUILD)/site-notes,$(BUILD)/site)

print-rooms:
	@echo $(ROOMS)

print-stages:
	@echo $(STAGES)

print-others:
	@echo $(OTHERS)

# The stage whose lesson a stage goes on from: the one before it, unless the table says otherwise.
print-before:
	@echo $(or $($(STAGE).before),$(shell echo $(STAGES) | tr ' ' '\n' | \
		awk '$$0 == "$(STAGE)" { print last } { last = $$0 }'))

# The parts that a reader of the delta can leave for later.
print-aside:
	@echo $($(STAGE).aside)

print-parts:
	@echo $(call sources,$(STAGE),$(ROLE))

# The files of common/ that a stage has files of its own for.
print-without:
	@echo $($(STAGE).without)

clean: ## remove what was built
	rm -rf $(BUILD) $(PROGRAMS) $(ONE_FILE) $(DEVICES) verbs-trace/verbs-trace verbs-trace/libverbs-trace.so

help: ## print this list
	@awk -F ' *## *' '/^[a-z-]+:.*##/ { split($$1, target, ":"); \
		printf "  make %-10s %s\n", target[1], $$2 }' Makefile course/course.mk common-next/library.mk
	@echo "  RDMA_ADDR=address uses the RDMA device of this machine that has the address; LAB=1 uses the VM all the same."
	@echo "  KERNEL=6.12 (or a .deb file, or a directory) selects the VM's kernel: see lab/run --help."

.PHONY: all verbs-trace nine bare-events bench-build demo compare check check-long check-lab fuzz coverage mutants tsan asan memcheck soak lint \
	show delta deltas picture capture docs print-rooms print-stages print-others \
	print-before print-aside print-parts print-without clean help

# Which object needs which header: of no use to a goal that only prints.
ifneq ($(filter-out print-%,$(or $(MAKECMDGOALS),all)),)
-include $(shell find $(BUILD) -path $(BUILD)/mutate -prune -o -name '*.d' -print 2>/dev/null)
endif
