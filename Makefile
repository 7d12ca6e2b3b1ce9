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
SAY = @$(if $(V)$(filter print-%,$(MAKECMDGOALS)),:,printf '  %-3s %s\n')

# A stage is made of what its stage.c names: the linker takes it from an archive of all their files.
STAGES = ping-sr-0 ping-sr-1 ping-sr-2e ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5 blast-sr-2 ping-srq-4 \
	 ping-rc-0 ping-rdma-1 ping-rdma-2 ping-rdma-3 \
	 blast-rdma-1 count-atomic-1

# Made as the stages are, but of another shape: what they do is no message to and fro, which the tests
# that run all stages, and bench/, take for granted. So they are not in STAGES, and have suites of their own.
OTHERS = pubsub-rdma-1 pubsub-rdma-2 talk-rdma-0

# The stage whose lesson a stage goes on from: the one before it in the list, unless it says otherwise.
ping-sr-5.before = ping-sr-3
blast-sr-2.before = ping-sr-2
ping-srq-4.before = ping-sr-4
ping-rc-0.before = ping-sr-0
ping-rdma-1.before = ping-sr-3
blast-rdma-1.before = ping-rdma-1
count-atomic-1.before = ping-rdma-1
pubsub-rdma-1.before = ping-rdma-1
pubsub-rdma-2.before = pubsub-rdma-1
talk-rdma-0.before = ping-rdma-3

# Topics of their own: what the others need of them is in a header. Whoever reads the step from one stage to
# the next can leave them for later, and `make deltas` counts them by themselves.
ping-sr-1.aside = ping-sr-1/connect_info_wire.c
ping-sr-2.aside = ping-sr-2/keepalive.c ping-sr-2/keepalive.h

# The nine ways to wait of the course (page 194): one for CM events and one for completions.
NINE_WAYS = none channel nonblocking
NINE = $(foreach cm,$(NINE_WAYS),$(foreach completions,$(NINE_WAYS),$(cm)-$(completions)))

# The folder of a stage: its name, and for those beside the ladder beyond/ before it.
folder = $(or $(wildcard beyond/$(1)),$(1))
FOLDERS = $(foreach stage,$(STAGES) $(OTHERS),$(call folder,$(stage)))

PROGRAMS = $(foreach folder,$(FOLDERS),$(folder)/client $(folder)/server)

# Each is one file, which takes nothing of the suite: it has to compile as it is, by itself.
ONE_FILE = beyond/ping-ep-0/client beyond/ping-ep-0/server

# Looks at devices, and stands beside the stages: of the suite it takes what any program needs.
DEVICES = devices/devices

# The rooms that are the same for every stage: the RDMA, and what any program needs besides. Those to
# the left may call those to the right, never the other way round.
ROOMS = measure common program
MAINS = program/client_main.c program/server_main.c
ROOM_SOURCES = $(filter-out $(MAINS),$(wildcard $(ROOMS:=/*.c)))
STAGE_SOURCES = $(filter-out %/stage.c beyond/ping-rc-0/stage_events.c,$(wildcard $(FOLDERS:=/*.c)))
ROOM_LIBS = $(BUILD)/libstages.a $(ROOMS:%=$(BUILD)/lib%.a)

include verbs-trace/verbs-trace.mk examples/examples.mk

all: $(PROGRAMS) $(ONE_FILE) $(DEVICES) $(EXAMPLES) verbs-trace compile_commands.json ## build all programs (the default)

# For editors: see tools/compile-commands.
compile_commands.json: Makefile $(wildcard */*.mk) tools/compile-commands
	@env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL $(MAKE) --no-print-directory --dry-run --always-make V=1 \
		CC="$(CC)" CFLAGS="$(CFLAGS)" $(PROGRAMS) $(EXAMPLES) | tools/compile-commands > $@.new
	@mv $@.new $@

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

# Thin, so that the linker says which file it takes: see print-parts.
define archive_rules
$(BUILD)/lib$(1).a: $(patsubst %.c,$(BUILD)/%.o,$(2)) Makefile
	$$(SAY) AR $$@
	@rm -f $$@
	$$(Q)$$(AR) rcsT $$@ $$(filter %.o,$$^)
endef
$(foreach room,$(ROOMS),$(eval $(call archive_rules,$(room),$(filter $(room)/%,$(ROOM_SOURCES)))))
$(eval $(call archive_rules,stages,$(STAGE_SOURCES)))

# sources STAGE ROLE: those of a program, besides what the linker takes from the archives.
sources = program/$(2)_main.c $(call folder,$(1))/stage.c

# A program's stage: what its stage.c defines, by the name that program/ has for it.
stage_is = -Wl,--defsym=our_stage=$(subst -,_,$(1))

define stage_rules
$(2)/client: $(patsubst %.c,$(BUILD)/%.o,$(call sources,$(1),client)) $(ROOM_LIBS)
$(2)/server: $(patsubst %.c,$(BUILD)/%.o,$(call sources,$(1),server)) $(ROOM_LIBS)
$(2)/client $(2)/server: STAGE_IS = $(call stage_is,$(1))
endef
$(foreach stage,$(STAGES) $(OTHERS),$(eval $(call stage_rules,$(stage),$(call folder,$(stage)))))
# Connections by bare verbs: nothing that it takes from the archives calls librdmacm.
beyond/ping-rc-0/client beyond/ping-rc-0/server: LIBS = -libverbs -pthread

$(ONE_FILE): %: %.c
	$(SAY) CC $<
	$(Q)$(CC) $(CFLAGS) $(WARNINGS) $(LDFLAGS) $< -lrdmacm -libverbs -o $@

$(DEVICES): $(patsubst %.c,$(BUILD)/%.o,$(wildcard devices/*.c)) $(BUILD)/libmeasure.a $(BUILD)/libprogram.a $(BUILD)/libcommon.a
	$(SAY) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -lm -o $@

NINE_PROGRAMS = $(foreach way,$(NINE),$(BUILD)/nine/$(way)/client $(BUILD)/nine/$(way)/server)
NINE_ITSELF = $(BUILD)/nine/client $(BUILD)/nine/server
$(NINE_ITSELF): $(BUILD)/nine/%: $(BUILD)/nine/stage.o $(BUILD)/program/%_main.o $(ROOM_LIBS)
$(NINE_ITSELF): STAGE_IS = $(call stage_is,nine)

# One program, nine names.
$(NINE_PROGRAMS): $(NINE_ITSELF)
	@mkdir -p $(@D)
	@ln -f $(BUILD)/nine/$(@F) $@

# Every way to wait, in one program.
WAYS = $(BUILD)/ways/client $(BUILD)/ways/server
$(WAYS): $(BUILD)/ways/%: $(patsubst %.c,$(BUILD)/%.o,$(wildcard ways/*.c)) $(BUILD)/program/%_main.o $(ROOM_LIBS)
$(WAYS): STAGE_IS = $(call stage_is,ways)

ways: $(WAYS) ## build every way to wait, as one program: build/ways/{client,server}

# ping-rc-0 asleep until there is a completion, as ibv_rc_pingpong -e is: bench/ compares the two.
BARE_EVENTS = $(BUILD)/ping-rc-0-events/client $(BUILD)/ping-rc-0-events/server
$(foreach role,client server,$(eval $(BUILD)/ping-rc-0-events/$(role): \
	$(patsubst %.c,$(BUILD)/%.o,beyond/ping-rc-0/stage_events.c program/$(role)_main.c) $(ROOM_LIBS)))
$(BARE_EVENTS): LIBS = -libverbs -pthread
$(BARE_EVENTS): STAGE_IS = $(call stage_is,ping-rc-0-events)

bare-events: $(BARE_EVENTS) ## build ping-rc-0 with a completion channel: build/ping-rc-0-events/{client,server}

# What bench/compare starts besides the stages.
BENCH = $(addprefix $(BUILD)/bench/,tcp_ping wake_up statistics_cost)
$(BENCH): $(BUILD)/bench/%: bench/%.c $(BUILD)/libmeasure.a $(BUILD)/libprogram.a $(BUILD)/libcommon.a
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(COMPILE) $(LDFLAGS) $< $(BUILD)/libmeasure.a $(BUILD)/libprogram.a $(BUILD)/libcommon.a $(LIBS) -o $@

bench-build: all nine ways bare-events $(BENCH)

nine: $(NINE_PROGRAMS) ## build all nine combinations of waiting for events and completions: build/nine/CM-COMPLETIONS/{client,server}

$(PROGRAMS) $(NINE_ITSELF) $(WAYS) $(BARE_EVENTS):
	@mkdir -p $(@D) $(BUILD)/maps/$(@D)
	$(SAY) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(STAGE_IS) -Wl,-Map=$(BUILD)/maps/$@ $(filter %.o,$^) $(ROOM_LIBS) $(LIBS) -o $@

# What only prints the table of parts does without them: tools/stage asks for it very often.
ifneq ($(filter-out print-rooms print-stages print-others print-before print-aside print-parts, \
	$(or $(MAKECMDGOALS),all)),)
-include course/course.mk tests/tests.mk tests/fake/fake.mk tests/fuzz/fuzz.mk
endif

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
	@$(MAKE) --no-print-directory $(JOBS) all
	@echo "Lines of code, without comments, that a stage's own files add to the stage whose lesson it goes"
	@echo "on from, and that are gone with the files that they replace (make delta STAGE=... shows them):"
	@for stage in $(wordlist 2,99,$(STAGES)) $(OTHERS); do tools/stage size $$stage; done

picture: ## STAGE=ping-sr-3: run it, and draw its trace: build/picture/STAGE.html
	$(if $(filter $(STAGES) $(OTHERS) ping-ep-0,$(STAGE)),,$(error Say which stage, STAGE=one of: $(STAGES) $(OTHERS) ping-ep-0))
	@$(MAKE) --no-print-directory $(JOBS) verbs-trace $(addprefix $(call folder,$(STAGE))/,client server)
	@tools/picture $(STAGE)

# CAPTURE="--iwarp --loss 5" and the like go to the program.
capture: ## STAGE=ping-sr-3: run it between two hosts of the lab, and print its packets as a ladder
	@tools/packages --install tools/packages-build.txt lab/packages.txt tools/packages-capture.txt
	$(if $(filter $(STAGES) $(OTHERS) ping-ep-0,$(STAGE)),,$(error Say which stage, STAGE=one of: $(STAGES) $(OTHERS) ping-ep-0))
	@$(MAKE) --no-print-directory --silent $(JOBS) verbs-trace $(addprefix $(call folder,$(STAGE))/,client server)
	@python3 -B -m tools.capture $(STAGE) $(CAPTURE)

fill: ## write what Markdown files show of the code and of tables, and the figures of docs/
	@python3 -B -m tools.figures
	@python3 -B -m tools.website.fill

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

# Those that the linker has taken, as its map says, without the rooms.
print-parts: $(filter $(PROGRAMS),$(call folder,$(STAGE))/$(ROLE))
	@test -f $(BUILD)/maps/$(call folder,$(STAGE))/$(ROLE)
	@sed -nE 's|^(LOAD )?$(BUILD)/([^ ]*)\.o( .*)?$$|\2.c|p' $(BUILD)/maps/$(call folder,$(STAGE))/$(ROLE) | \
		grep -vxF $(ROOM_SOURCES:%=-e %) | sort -u

clean: ## remove what was built
	rm -rf $(BUILD) compile_commands.json $(PROGRAMS) $(ONE_FILE) $(DEVICES) verbs-trace/verbs-trace verbs-trace/libverbs-trace.so

help: ## print this list
	@awk -F ' *## *' '/^[a-z-]+:.*##/ { split($$1, target, ":"); \
		printf "  make %-10s %s\n", target[1], $$2 }' Makefile course/course.mk examples/examples.mk
	@echo "  RDMA_ADDR=address uses the RDMA device of this machine that has the address; LAB=1 uses the VM all the same."
	@echo "  KERNEL=6.12 (or a .deb file, or a directory) selects the VM's kernel: see lab/run --help."

.PHONY: all verbs-trace nine ways bare-events bench-build demo compare check check-long check-lab fuzz coverage mutants tsan asan memcheck lint \
	show delta deltas picture capture fill docs print-rooms print-stages print-others \
	print-before print-aside print-parts clean help

# Which object needs which header: of no use to a goal that only prints.
ifneq ($(filter-out print-%,$(or $(MAKECMDGOALS),all)),)
-include $(shell find $(BUILD) -path $(BUILD)/mutate -prune -o -name '*.d' -print 2>/dev/null)
endif
