# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# verbs-sim/verbs-sim, which runs programs on a simulated device, and the shared object that it preloads. What both need
# is compiled once.
SIM = $(BUILD)/verbs-sim
SIM_SHARED = $(call objects,$(wildcard verbs-sim/core/*.c verbs-sim/device/*.c verbs-sim/cm/*.c))
SIM_LIBRARY = $(call objects,$(wildcard verbs-sim/calls/*.c)) $(SIM)/unknown.o
SIM_RUNNER = $(call objects,$(wildcard verbs-sim/runner/*.c))
# No loop becomes a call of memcpy: see calls/memory_functions.c.
SIM_FLAGS = -fno-tree-loop-distribute-patterns -fPIC -fvisibility=hidden -ftls-model=initial-exec

verbs-sim: verbs-sim/verbs-sim verbs-sim/libverbs-sim.so ## run programs of both libraries on a simulated device

$(SIM)/unknown.c $(SIM)/versions.map: $(wildcard verbs-trace/tool/*.py) $(TOOL_TABLES)
	$(call run,GEN,$@,python3 -B verbs-trace/tool/stubs.py $@)
$(SIM)/unknown.o: $(SIM)/unknown.c
	$(call run,CC,$<,$(COMPILE) $(SIM_FLAGS) -Wno-array-parameter -c $< -o $@)
$(SIM)/%.o: verbs-sim/%.c
	$(call run,CC,$<,$(COMPILE) $(SIM_FLAGS) -c $< -o $@)
$(SIM_SHARED) $(SIM_LIBRARY) $(SIM_RUNNER): | $(BUILD)/headers-found

verbs-sim/libverbs-sim.so: $(SIM_SHARED) $(SIM_LIBRARY) $(SIM)/versions.map
verbs-sim/libverbs-sim.so: LINK_FLAGS = -shared -Wl,-z,defs -Wl,--version-script=$(SIM)/versions.map
verbs-sim/libverbs-sim.so: LIBS += -ldl
verbs-sim/verbs-sim: $(SIM_SHARED) $(SIM_RUNNER)
verbs-sim/verbs-sim: LIBS =
verbs-sim/verbs-sim verbs-sim/libverbs-sim.so:
	$(LINK)
