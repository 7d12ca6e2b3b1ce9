# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# verbs-sim: a program, and a shared object that it preloads into what it runs.

TAKES_verbs-sim = tools/verbs
BUILT_verbs-sim = $(addprefix tools/verbs-sim/,verbs-sim libverbs-sim.so)
INSTALLED_verbs-sim = 755:bin:tools/verbs-sim/verbs-sim 644:lib/verbs-sim:tools/verbs-sim/libverbs-sim.so \
	644:include:tools/verbs-sim/verbs_sim.h

include tools/verbs/verbs.mk
SIM = $(BUILD)/tools/verbs-sim
of_sim = $(call objects,$(foreach part,$(1),$(wildcard tools/verbs-sim/$(part)/*.c)))
# No loop becomes a call of memcpy: see core/ledger.c.
$(SIM)/%.o: FLAGS = -fno-tree-loop-distribute-patterns $(PRELOADED)
$(SIM)/wrappers.c $(SIM)/wrappers.map: $(TABLES)
	$(call run,GEN,$@,$(GENERATE)/wrappers.py $@)

tools/verbs-sim/verbs-sim: $(call of_sim,core device cm transfer runner)
tools/verbs-sim/libverbs-sim.so: $(call of_sim,core device cm transfer calls kernel) $(SIM)/wrappers.o $(SIM)/wrappers.map
tools/verbs-sim/libverbs-sim.so: LINK_FLAGS = -shared -Wl,-z,defs -Wl,--version-script=$(SIM)/wrappers.map
$(BUILT_verbs-sim): LIBS = -ldl
$(BUILT_verbs-sim):
	$(LINK)

# Programs that its tests run. docs/drivers.md asks a driver one question with probe.
SIM_TESTS = $(BUILD)/tests/sim
PROBE = $(BUILD)/tests/probe
TRIED_verbs-sim = $(addprefix $(SIM_TESTS)/,programs programs-thread programs-address ends adapter bounds refused limits libc order received search broken helped lost claims flap) $(PROBE) $(BUILD)/tests/untrapped.so
$(filter $(SIM_TESTS)/%,$(TRIED_verbs-sim)): tools/verbs-sim/tests/$$(firstword $$(subst -, ,$$(@F))).c
$(filter $(SIM_TESTS)/programs%,$(TRIED_verbs-sim)): $(wildcard tools/verbs-sim/tests/programs/*.[ch])
$(SIM_TESTS)/refused: $(wildcard tools/verbs-sim/tests/refused/*.[ch])
$(SIM_TESTS)/limits: $(wildcard tools/verbs-sim/tests/limits/*.[ch])
$(SIM_TESTS)/search: $(wildcard tools/verbs-sim/core/*.[ch])
$(SIM_TESTS)/claims: tools/verbs-sim/verbs_sim.h
$(SIM_TESTS)/broken $(SIM_TESTS)/helped: tools/verbs-sim/core/world.h tools/verbs-sim/device/kinds.h
$(SIM_TESTS)/search: ALONE += -fno-tree-loop-distribute-patterns
$(PROBE): $(wildcard tools/verbs-sim/tests/probe/*.[ch])
$(BUILD)/tests/untrapped.so: tools/verbs-sim/tests/untrapped.c
$(BUILD)/tests/untrapped.so: ALONE += -fPIC -shared
$(TRIED_verbs-sim): tools/verbs/two_ends.h
$(TRIED_verbs-sim): ALONE += -Itools
$(TRIED_verbs-sim): WARNINGS += -Werror
$(TRIED_verbs-sim):
	$(COMPILE_ALONE)
probe: $(PROBE) ## build what docs/drivers.md asks the drivers with; RDMA_ADDR=...: ask a device all of it
	$(if $(RDMA_ADDR),@tools/verbs-sim/tests/probe/ask $(PROBE) $(RDMA_ADDR))

verbs-sim: $(BUILT_verbs-sim) ## run programs of both libraries on a simulated device
.PHONY: verbs-sim
