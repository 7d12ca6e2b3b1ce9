# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# One build for everything: `make help` lists the targets.

.DEFAULT_GOAL = all

CC ?= cc
CFLAGS ?= -O2 -g
LDFLAGS ?=
override CPPFLAGS += -I. -D_GNU_SOURCE
# In CI (CI=true) a warning ends the build; a newer compiler of yours may warn of more.
WARNINGS = -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes $(if $(CI),-Werror)
# A program has the functions that it calls, and no others of their files.
COMPILE = $(CC) -std=c11 -ffunction-sections $(CPPFLAGS) $(CFLAGS) $(WARNINGS) -MMD -MP
LIBS = -lrdmacm -libverbs -pthread
BUILD = build
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))

# $(call run,WORD,FILE,COMMAND) is a recipe. `make V=1` shows the whole command, else a word and the file.
define run
@mkdir -p $(@D)
@$(if $(V)$(filter print-%,$(MAKECMDGOALS)),:,printf '  %-3s %s\n') $(1) $(2)
$(if $(V),,@)$(3)
endef
# In a copy of the tree that is made anew: sources that the tree no longer has are not to stay.
no_sources = find $(1) -name build -prune -o -name '*.[ch]' -exec rm {} +
# Archives, also thin ones (THIN = T); programs of objects and archives; and those that are compiled by themselves, with
# the flags ALONE.
ARCHIVE = $(call run,AR,$@,rm -f $@ && $(AR) rcs$(THIN) $@ $(filter %.o,$^))
LINK = $(call run,LD,$@,$(CC) $(CFLAGS) $(LDFLAGS) -Wl$(comma)--gc-sections $(LINK_FLAGS) $(filter %.o,$^) $(filter %.a,$^) $(LIBS) -o $@)
ALONE = -std=c11 -D_GNU_SOURCE
COMPILE_ALONE = $(call run,CC,$@,$(CC) $(CFLAGS) $(WARNINGS) $(ALONE) $(LDFLAGS) $(filter %.c %.a,$^) $(LIBS) -o $@)

# The stages, in the order of the course. Each is made of what its stage.c names, which also says what it goes on from:
# the linker takes it from an archive of all their files.
STAGES = ping-sr-0 ping-sr-1 ping-sr-2e ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5 blast-sr-2 ping-srq-4 \
	 ping-rc-0 ping-rdma-1 ping-rdma-2 ping-rdma-3 \
	 blast-rdma-1 count-atomic-1
# Of another shape: what they do is no message to and fro, which the tests that run all stages, and bench/, take for granted.
OTHERS = pubsub-rdma-1 pubsub-rdma-2 talk-rdma-0
# The folder of a stage: its name, and for those beside the ladder beyond/ before it.
folder = $(or $(wildcard beyond/$(1)),$(1))
FOLDERS = $(foreach stage,$(STAGES) $(OTHERS),$(call folder,$(stage)))
PROGRAMS = $(foreach folder,$(FOLDERS),$(folder)/client $(folder)/server)
# Each is one file, which takes nothing of the suite: it has to compile as it is, by itself.
ONE_FILE = beyond/ping-ep-0/client beyond/ping-ep-0/server

# The rooms that are the same for every stage: the RDMA, and what any program needs besides. Those to
# the left may call those to the right, never the other way round.
ROOMS = serve measure common program
MAINS = program/client_main.c program/server_main.c
ROOM_SOURCES = $(filter-out $(MAINS),$(wildcard $(ROOMS:=/*.c)))
STAGE_SOURCES = $(filter-out %/stage.c %/stage_events.c,$(wildcard $(FOLDERS:=/*.c)))
ROOM_LIBS = $(addprefix $(BUILD)/lib,stages.a $(ROOMS:=.a))
ANY_LIBS = $(addprefix $(BUILD)/lib,measure.a program.a common.a)

include verbs-trace/verbs-trace.mk verbs-sim/verbs-sim.mk examples/examples.mk install/install.mk

# For make check-two-files: every program and test is made of the two files, in place of the sources of the library.
ifdef AMALGAMATED
ROOM_SOURCES := $(filter-out common/%,$(ROOM_SOURCES)) $(TWO_FILES)/our_control.c
STAGE_SOURCES := $(filter-out $(LIBRARY_SOURCES),$(STAGE_SOURCES))
$(BUILD)/libcommon.a: $(call objects,$(TWO_FILES)/our_control.c)
endif

all: $(PROGRAMS) $(ONE_FILE) devices/devices $(EXAMPLES) verbs-trace verbs-sim compile_commands.json ## build all programs (the default)

# For editors: see tools/compile-commands. make -n runs each recipe that says $(MAKE): this one must not run then.
ALL_COMMANDS = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL $(MAKE) --no-print-directory --dry-run --always-make V=1
compile_commands.json: Makefile $(wildcard */*.mk) tools/compile-commands
	@$(ALL_COMMANDS) CC="$(CC)" CFLAGS="$(CFLAGS)" $(PROGRAMS) $(ONE_FILE) $(EXAMPLES) devices/devices verbs-trace nine ways | \
		tools/compile-commands > $@.new
	@mv $@.new $@

# Tried once, before anything is compiled: whether the compiler finds the headers, of the packages or elsewhere.
$(BUILD)/headers-found:
	@mkdir -p $(@D)
	@printf '#include <%s>\n' rdma/rdma_cma.h infiniband/verbs.h | $(CC) $(CPPFLAGS) -fsyntax-only -x c - || \
		{ tools/packages tools/packages-build.txt; exit 1; }
	@touch $@

# Every file is compiled once, for all programs.
$(BUILD)/%.o: %.c | $(BUILD)/headers-found
	$(call run,CC,$<,$(COMPILE) -c $< -o $@)

$(TOOL_OBJECTS) $(ONE_FILE): | $(BUILD)/headers-found

# Thin, so that the linker says which file it takes: see print-parts.
$(BUILD)/libstages.a: $(call objects,$(STAGE_SOURCES)) Makefile
$(foreach room,$(ROOMS),$(eval $(BUILD)/lib$(room).a: $(call objects,$(filter $(room)/%,$(ROOM_SOURCES))) Makefile))
$(ROOM_LIBS): THIN = T
$(ROOM_LIBS):
	$(ARCHIVE)

# A program's stage: what its stage.c defines, by the name that program/ has for it.
stage_is = -Wl,--defsym=our_stage=$(subst -,_,$(1))

# $(call stage_rules,NAME,DIRECTORY,SOURCES): DIRECTORY/client and server, of the stage that SOURCES define by this name.
define stage_rules
$(2)/client $(2)/server: $(2)/%: $(BUILD)/program/%_main.o $(call objects,$(3)) $(ROOM_LIBS)
	@mkdir -p $(BUILD)/maps/$(2)
	$$(LINK)
$(2)/client $(2)/server: LINK_FLAGS = $(call stage_is,$(1)) -Wl,-Map=$(BUILD)/maps/$$@
endef
$(foreach stage,$(STAGES) $(OTHERS),$(eval $(call stage_rules,$(stage),$(call folder,$(stage)),$(call folder,$(stage))/stage.c)))
# The nine ways to wait of the course (page 194), one for CM events and one for completions; every way to wait; and
# ping-rc-0 asleep until there is a completion, as ibv_rc_pingpong -e is: bench/ compares the two.
NINE_WAYS = none channel nonblocking
NINE = $(foreach cm,$(NINE_WAYS),$(addprefix $(cm)-,$(NINE_WAYS)))
$(foreach way,$(NINE),$(eval $(call stage_rules,nine-$(way),$(BUILD)/nine/$(way),nine/stage.c)))
$(eval $(call stage_rules,ways,$(BUILD)/ways,$(wildcard ways/*.c)))
$(eval $(call stage_rules,ping-rc-0-events,$(BUILD)/ping-rc-0-events,beyond/ping-rc-0/stage_events.c))
# Connections by bare verbs: nothing that these programs have of the archives calls librdmacm; a sanitizer keeps all of it.
$(addprefix beyond/ping-rc-0/,client server) $(addprefix $(BUILD)/ping-rc-0-events/,client server): LIBS = $(if $(findstring -fsanitize,$(LDFLAGS)),-lrdmacm) -libverbs -pthread

# Asked only when the program is linked: ways/io_uring.c is empty without liburing.
$(addprefix $(BUILD)/ways/,client server): LIBS += $(shell echo "int main(void) { return 0; }" | $(CC) -x c - -luring -o /dev/null 2>/dev/null && echo -luring)
ways: $(BUILD)/ways/client $(BUILD)/ways/server ## build every way to wait, as one program: build/ways/{client,server}

bare-events: $(addprefix $(BUILD)/ping-rc-0-events/,client server) ## build ping-rc-0 with a completion channel: build/ping-rc-0-events/{client,server}

nine: $(foreach way,$(NINE),$(addprefix $(BUILD)/nine/$(way)/,client server)) ## build all nine combinations of waiting for events and completions: build/nine/CM-COMPLETIONS/{client,server}

$(ONE_FILE): %: %.c
	$(COMPILE_ALONE)
$(ONE_FILE): ALONE =
$(ONE_FILE): LIBS = -lrdmacm -libverbs

# Looks at devices, and stands beside the stages: of the suite it takes what any program needs. So does what bench/compare starts.
BENCH = $(addprefix $(BUILD)/bench/,tcp_ping statistics_cost)
PRIMITIVES = $(BUILD)/bench/primitives
devices/devices: $(call objects,$(wildcard devices/*.c)) $(ANY_LIBS)
$(BENCH): %: %.o $(ANY_LIBS)
$(PRIMITIVES): $(call objects,bench/primitives.c bench/meter.c ping-sr-3/completions.c ping-sr-5/wake_up.c) $(LIBRARY) $(ANY_LIBS)
devices/devices $(BENCH) $(PRIMITIVES):
	$(LINK)
devices/devices: LIBS += -lm

bench-build: all nine ways bare-events $(BENCH) $(PRIMITIVES)

# For bench/in-turn, the pairs of examples/ with another wait: they poll, and then plain/ does not hear a disconnect.
POLLING = $(foreach role,client server,$(addprefix $(BUILD)/bench/polling/,echo_$(role) plain/echo_$(role)))
$(BUILD)/bench/polling/%.c: examples/%.c
	@mkdir -p $(@D)
	@sed -e 's/our_nonblocking_channel/our_busy_polling/' -e 's/ret = [a-z]*->armed .*;/;/' \
		-e 's/TIMEOUT_MS 10000/TIMEOUT_MS 500/' $< > $@ && ! cmp -s $< $@
$(POLLING): %: %.c $(LIBRARY)
	$(COMPILE_ALONE)
$(POLLING): ALONE += -Icommon -Wno-unused-function

echo-build: all others $(POLLING) ## build what bench/README.md compares: the echo of examples/, asleep and polling

# What only prints the table of parts does without them: tools/stage asks for it very often.
TABLE = print-rooms print-stages print-others print-library print-before print-aside print-parts
ifneq ($(filter-out $(TABLE),$(or $(MAKECMDGOALS),all)),)
-include course/course.mk tests/tests.mk tests/fuzz/fuzz.mk
endif

# The kernel of the VM, for whatever runs in it: lab/run reads this.
ifeq ($(origin KERNEL),command line)
export LAB_KERNEL = $(KERNEL)
endif

# $(call ready,PARTS,TARGETS) in a recipe: the packages of these parts are installed, which costs a look where that is
# done, and the targets built. Who does not say how many jobs make may run gets one for each CPU.
lists = $(wildcard $(1:%=tools/packages-%.txt) $(1:%=%/packages.txt) $(1:%=tests/packages-%.txt))
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
define ready
@$(if $(1),tools/packages --install $(call lists,$(1)))
+@$(if $(2),$(MAKE) --no-print-directory $(JOBS) $(2))
endef

demo: ## see two processes ping-pong over soft-RoCE and soft-iWARP (or RDMA_ADDR=address)
	$(call ready,build lab,all)
	@tools/demo

# COMPARE="--quick" and the like go to the program.
compare: ## measure all ways to wait, and other projects' programs: build/report/index.html
	$(call ready,build lab bench,bench-build)
	@bench/compare $(COMPARE)

# Debian's Python has Debian's pytest, also in the guest.
PYTEST = /usr/bin/python3 -m pytest
TESTED = tests-build tracer-build sim-build fuzz-build pairs-build
check: ## run the tests; ten minutes at most
	$(call ready,build lab tests,all course-build $(TESTED))
	@tests/run

# Before a release, as root: CHANGELOG.md says what else.
check-long: ## run all tests, also those that take longer: hours
	$(call ready,build lab tests long,TESTS_ALL=1 all nine $(TESTED) probe verbs-trace course-build)
	@tests/run --long

check-two-files: ## run the unit tests, and tests of the examples and of ping-sr-3, on the two files of make amalgamation
	@mkdir -p $(BUILD)/two-files
	@$(call no_sources,$(BUILD)/two-files)
	@tools/files | tar cf - -T - | tar xf - -C $(BUILD)/two-files
	+@$(MAKE) --no-print-directory $(JOBS) -C $(BUILD)/two-files AMALGAMATED=1 all tests-build sim-build pairs-build
	@cd $(BUILD)/two-files && $(PYTEST) -q tests/unit tests/sim -k 'test_in_c or examples or ping-sr-3-' && \
		AMALGAMATED=1 tests/sanitize --stages 3 address

check-lab: ## run all tests of the lab itself, also the slow ones
	$(call ready,build lab tests,devices/devices)
	@$(PYTEST) -q tests/lab -m ''

# Not part of `check`: see tests/README.md for when to run them.
tsan: all ## test the programs with ThreadSanitizer, in the lab
	@tests/sanitize thread

asan: all ## test them with AddressSanitizer and UndefinedBehaviorSanitizer
	@tests/sanitize address

memcheck: all ## test them with valgrind
	$(call ready,sanitize)
	@tests/sanitize memcheck

fuzz: ## run each fuzzing harness for FUZZ_SECONDS=60, with new inputs each time
	$(call ready,,fuzz-build)
	@$(PYTEST) tests/fuzz -m '' -k test_new --seconds $(FUZZ_SECONDS)

coverage: ## print which lines of the programs are run by the tests that need no device
	$(call ready,build tests coverage)
	@tests/coverage

# Slow, hence no part of `make check`; MUTANTS="--folders common" and the like go to the script.
mutants: ## N=50 SEED=1: plant faults at random in the programs, and count those that a test notices
	$(call ready,build tests)
	@tests/mutate/run $(if $(N),--count $(N)) $(if $(SEED),--seed $(SEED)) $(MUTANTS)

lint: ## check the style of every source and script
	$(call ready,build lint)
	@tools/lint

# What a reader can ask of a stage.
show: ## STAGE=ping-sr-3: list the stage's files, and the stage that each comes from
	@tools/stage show $(STAGE)

delta: ## STAGE=ping-sr-3: print the diff against the stage before
	@tools/stage delta $(STAGE)

deltas: ## print how many lines each stage's delta has
	$(call ready,,all)
	@tools/stage sizes

NEEDS_STAGE = $(if $(filter $(STAGES) $(OTHERS) ping-ep-0,$(STAGE)),,$(error Say which stage, STAGE=one of: $(STAGES) $(OTHERS) ping-ep-0))
BOTH_SIDES = verbs-trace $(addprefix $(call folder,$(STAGE))/,client server)
picture: ## STAGE=ping-sr-3: run it, and draw its trace: build/picture/STAGE.html
	$(NEEDS_STAGE)
	$(call ready,,$(BOTH_SIDES))
	@tools/picture $(STAGE)

# CAPTURE="--iwarp --loss 5" and the like go to the program.
capture: ## STAGE=ping-sr-3: run it between two hosts of the lab, and print its packets as a ladder
	$(NEEDS_STAGE)
	$(call ready,build lab capture,--silent $(BOTH_SIDES))
	@python3 -B -m tools.capture $(STAGE) $(CAPTURE)

fill: ## write what Markdown files show of the code and of tables
	@python3 -B -m tools.website.fill

docs: ## build the site, which needs no network to be read: build/site/html/index.html (NOTES=1: build/site-notes, for instructors)
	$(call ready,build docs)
	@python3 -B -m tools.website $(if $(NOTES),--notes $(BUILD)/site-notes,$(BUILD)/site)

# What a stage.c says: the stage whose lesson it goes on from, and what a reader of the delta can leave for later.
print-before: SAYS = Goes on from
print-aside: SAYS = To be read by themselves
print-before print-aside:
	@sed -n 's/^ \* $(SAYS): \(.*\)\.$$/\1/p' $(call folder,$(STAGE))/stage.c

# Those that the linker has taken, as its map says, without the rooms.
print-parts: $(filter $(PROGRAMS),$(call folder,$(STAGE))/$(ROLE))
	@test -f $(BUILD)/maps/$(call folder,$(STAGE))/$(ROLE)
	@sed -nE 's|^(LOAD )?$(BUILD)/([^ ]*)\.o( .*)?$$|\2.c|p' $(BUILD)/maps/$(call folder,$(STAGE))/$(ROLE) | \
		grep -vxF $(ROOM_SOURCES:%=-e %) | sort -u

print-rooms: ; @echo $(ROOMS)
print-stages: ; @echo $(STAGES)
print-others: ; @echo $(OTHERS)
print-library: ; @echo $(LIBRARY_SOURCES)

clean: ## remove what was built
	rm -rf $(BUILD) compile_commands.json $(PROGRAMS) $(ONE_FILE) devices/devices verbs-trace/verbs-trace verbs-trace/libverbs-trace.so verbs-sim/verbs-sim verbs-sim/libverbs-sim.so

help: ## print this list
	@awk -F ' *## *' '/^[a-z-]+:.*##/ { split($$1, target, ":"); \
		printf "  make %-10s %s\n", target[1], $$2 }' Makefile course/course.mk examples/examples.mk install/install.mk
	@echo "  RDMA_ADDR=address uses the RDMA device of this machine that has the address; LAB=1 uses the VM all the same."
	@echo "  KERNEL=6.12 (or a .deb file, or a directory) selects the VM's kernel: see lab/run --help."

# Of the targets that are no files, these have the names of folders.
.PHONY: all nine ways docs examples verbs-trace verbs-sim

# Which object needs which header: of no use to a goal that only prints.
ifneq ($(filter-out print-%,$(or $(MAKECMDGOALS),all)),)
-include $(shell find $(BUILD) \( -path $(BUILD)/mutate -o -path $(BUILD)/two-files -o -path $(BUILD)/foreign \) -prune -o -name '*.d' -print 2>/dev/null)
endif
