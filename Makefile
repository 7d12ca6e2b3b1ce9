# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# One build for everything: `make help` lists the targets.

.SECONDEXPANSION:

all: $$(DEFAULT) compile_commands.json ## build all programs (the default)

include tools/build.mk

# The stages, in the order of the course. OTHERS are no ping-pongs: tests that run all stages, and bench/, skip them. Stages that
# are not on the ladder are in beyond/.
STAGES = ping-sr-0 ping-sr-1 ping-sr-2e ping-sr-2 ping-sr-3 ping-sr-4 ping-sr-5 blast-sr-2 ping-srq-4 ping-reconnect-2 \
	 ping-rc-0 ping-rdma-1 ping-rdma-2 ping-rdma-3 blast-rdma-1 count-atomic-1
OTHERS = pubsub-rdma-1 pubsub-rdma-2 talk-rdma-0
folder = $(or $(wildcard beyond/$(1)),$(1))
FOLDERS = $(foreach stage,$(STAGES) $(OTHERS),$(call folder,$(stage)))
both = $(foreach one,$(1),$(one)/client $(one)/server)
PROGRAMS = $(call both,$(FOLDERS))

# A program is its stage.o, a main, and what these name of the archive: files of stages, the stage's own and those that it goes
# on from, and of the rooms that are the same for all. Those to the left may call those to the right.
ROOMS = program/serve program/measure common program
MAINS = program/serve/client_main.c program/serve/server_main.c
ROOM_SOURCES = $(filter-out $(MAINS),$(wildcard $(ROOMS:=/*.c)))
STAGE_SOURCES = $(filter-out %/stage.c,$(wildcard $(FOLDERS:=/*.c)))
SUITE = $(BUILD)/libsuite.a
$(PROGRAMS): $(BUILD)/$$(@D)/stage.o $(BUILD)/program/serve/$$(@F)_main.o $(SUITE)
	$(LINK)

# Every file is compiled once, for all programs.
$(SUITE): $(call objects,$(STAGE_SOURCES) $(ROOM_SOURCES)) Makefile
	$(ARCHIVE)
# Thin, so that the linker says which file it takes: see tools/stages.py.
$(SUITE): THIN = T

# The nine ways to wait of the course (page 194), one for CM events and one for completions; every way to wait; and
# ping-rc-0 asleep until there is a completion, as ibv_rc_pingpong -e is: bench/ compares the two.
WAYS = none channel nonblocking
NINE = $(call both,$(foreach cm,$(WAYS),$(WAYS:%=$(BUILD)/nine/$(cm)-%)))
EVERY_WAY = $(call both,$(BUILD)/ways)
EVENTS = $(call both,$(BUILD)/ping-rc-0-events)
$(NINE): $$(@D)/stage.o
$(BUILD)/nine/%/stage.o: ways/nine/stage.c | $(BUILD)/headers-found
	$(COMPILE)
$(BUILD)/nine/%/stage.o: FLAGS = -DCM=$(word 1,$(subst -, ,$*)) -DCOMPLETIONS=$(word 2,$(subst -, ,$*))
$(EVERY_WAY): $(call objects,$(wildcard ways/*.c))
# Asked only when the program is linked: ways/io_uring.c is empty without liburing.
$(EVERY_WAY): LIBS += $(shell echo "int main(void) { return 0; }" | $(CC) -x c - -luring -o /dev/null 2>/dev/null && echo -luring)
$(EVENTS): $(BUILD)/beyond/ping-rc-0/events/stage.o
# Connections by bare verbs: nothing that these programs have of the archives calls librdmacm; sanitizers and gcov keep all of it.
$(call both,beyond/ping-rc-0) $(EVENTS): LIBS = $(if $(filter -fsanitize% --coverage,$(LDFLAGS)),-lrdmacm) -libverbs -pthread
$(NINE) $(EVERY_WAY) $(EVENTS): $(BUILD)/program/serve/$$(@F)_main.o $(SUITE)
	$(LINK)

nine: $(NINE) ## build all nine combinations of waiting for events and completions: build/nine/CM-COMPLETIONS/{client,server}
ways: $(EVERY_WAY) ## build every way to wait, as one program: build/ways/{client,server}
bare-events: $(EVENTS) ## build ping-rc-0 with a completion channel: build/ping-rc-0-events/{client,server}

# What is made of the library (tools/packaging) and nothing else; in examples/plain, of librdmacm and libibverbs alone.
OF_LIBRARY = $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c) beyond/ping-mt-4/client.c beyond/ping-failover-2/client.c)
EXAMPLES = $(OF_LIBRARY) $(patsubst %.c,$(BUILD)/%,$(wildcard examples/plain/*.c))
# Each is one file, which takes nothing of the suite: it has to compile as it is, by itself.
ONE_FILE = $(call both,$(addprefix beyond/,ping-ep-0 ping-ud-0 mcast-ud-0))
$(OF_LIBRARY): $$(LIBRARY)
$(OF_LIBRARY): ALONE += -Icommon -MMD -MP
$(call both,beyond/mcast-ud-0): beyond/mcast-ud-0/group.h
$(call both,beyond/ping-ep-0): beyond/ping-ep-0/both.h
$(ONE_FILE): ALONE =
$(ONE_FILE): LIBS = -lrdmacm -libverbs
$(EXAMPLES): $(BUILD)/%: %.c
$(ONE_FILE): %: %.c | $(BUILD)/headers-found
$(EXAMPLES) $(ONE_FILE):
	$(COMPILE_ALONE)

examples: $(EXAMPLES) ## build the library and the programs to copy: build/libour_control.a, build/examples

# The same echo on other libraries, for docs/libraries.md: of those that pkg-config finds when this is built.
there = $(shell pkg-config --exists $(1) && echo $(BUILD)/examples/others/$(1))
OTHER_ECHOES = $(foreach one,$(wildcard examples/others/*.c),$(call there,$(basename $(notdir $(one)))))
others: $$(OTHER_ECHOES) ## build the echo on librpma, libfabric, UCX and rsockets, where they are installed: build/examples/others
$(BUILD)/examples/others/%: examples/others/%.c examples/others/echo.c examples/others/echo.h
	$(COMPILE_ALONE)
$(BUILD)/examples/others/%: LIBS = $(shell pkg-config --cflags --libs $*) -libverbs

# What bench/compare starts takes what any program of the suite needs.
BENCH = $(addprefix $(BUILD)/bench/,tcp_ping busy primitives)
$(BENCH): $$@.o
$(BUILD)/bench/primitives: $(BUILD)/bench/meter.o
$(BENCH): $(SUITE)
	$(LINK)
bench-build: all nine ways bare-events $(BENCH)

# The tools by their names: see README.md. Each finds its own files by what the link points to.
COMMANDS = $(addprefix bin/,devices verbs-sim verbs-trace lab)
bin/%: Makefile
	@mkdir -p $(@D)
	@ln -sfn ../$(if $(filter lab,$*),lab/run,tools/$*/$*) $@

# Each product has its own file; those of the suite come last.
PRODUCTS = verbs-trace verbs-sim devices capture site packaging
TOOLS = $(BUILT_verbs-trace) $(BUILT_verbs-sim)
include $(foreach one,$(PRODUCTS),tools/$(one)/$(one).mk) tests/tests.mk course/course.mk
verbs-sim verbs-trace: %: bin/%
DEFAULT = $(PROGRAMS) $(ONE_FILE) $(BUILT_devices) $(EXAMPLES) $(TOOLS) $(COMMANDS)

# For editors: see tools/compile-commands. make -n runs each recipe that says $(MAKE): this one must not run then.
ALL_COMMANDS = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL $(MAKE) --no-print-directory --dry-run --always-make V=1
compile_commands.json: Makefile $(wildcard */*.mk */*/*.mk) tools/compile-commands
	@$(ALL_COMMANDS) CC="$(CC)" CFLAGS="$(CFLAGS)" $(DEFAULT) nine ways | tools/compile-commands > $@.new
	@mv $@.new $@

# The kernel of the VM, for whatever runs in it: lab/run reads this.
ifeq ($(origin KERNEL),command line)
export LAB_KERNEL = $(KERNEL)
endif

# $(call ready,PARTS,TARGETS) in a recipe installs the packages of these parts (cheap if they are there already), and builds the
# targets. Without -j, make runs one job per CPU.
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
define ready
@$(if $(1),tools/packages --install $(1))
+@$(if $(2),$(MAKE) --no-print-directory $(JOBS) $(2))
endef

doctor: ## say what this machine lacks, a line for each thing with the command to type; install nothing
	@tools/doctor

demo: ## see two processes ping-pong over soft-RoCE and soft-iWARP (or RDMA_ADDR=address)
	$(call ready,build lab,all)
	@tools/demo

# COMPARE="--quick" and the like go to the program.
compare: ## measure all ways to wait, and other projects' programs: build/report/index.html
	$(call ready,build lab bench,bench-build)
	@bench/compare $(COMPARE)

check: check-build ## run the tests: some fourteen minutes
	@tests/run

# All that it needs: tests/bare builds it on a bare Debian.
check-build:
	$(call ready,build lab tests,all course-build $(TESTED))

# Before a release, as root: CHANGELOG.md says what else.
check-long: ## run all tests, also those that take longer: hours
	$(call ready,build lab tests long,all nine $(TESTED) course-build)
	@tests/run --long

lint: ## check the style of every source and script
	$(call ready,build lint)
	@tools/lint

# What a reader can ask of a stage.
show: ## STAGE=ping-sr-3: list the stage's files, and the stage that each comes from
	$(call ready,,$(PROGRAMS) >/dev/null)
	@tools/stage show $(STAGE)

delta: ## STAGE=ping-sr-3: print the diff against the stage before; without STAGE, how long each is
	$(call ready,,$(PROGRAMS) >/dev/null)
	@tools/stage $(if $(STAGE),delta $(STAGE),sizes)

picture: ## STAGE=ping-sr-3: run it, and draw its trace: build/picture/STAGE.html
	$(call ready,,--silent all)
	@tools/picture $(STAGE)

clean: ## remove what was built
	rm -rf $(BUILD) compile_commands.json $(filter-out $(BUILD)/%,$(DEFAULT))

help: ## print this list
	@awk -F ' *## *' '/^[a-z-]+:.*##/ { split($$1, target, ":"); \
		printf "  make %-10s %s\n", target[1], $$2 }' $(filter Makefile %.mk,$(MAKEFILE_LIST))
	@echo "  RDMA_ADDR=address uses the RDMA device of this machine that has the address; LAB=1 uses the VM all the same."
	@echo "  KERNEL=6.12 (or a .deb file, or a directory) selects the VM's kernel: see lab/run --help."

# Of the targets that are no files, these have the names of folders.
.PHONY: all nine ways docs examples verbs-trace verbs-sim install
