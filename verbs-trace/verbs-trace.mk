# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# verbs-trace/verbs-trace, the tool for any program and for the option -t of the stages, and the shared
# object that it preloads. Both libraries are linked in, so that the versions of their functions are known.
TOOL = $(BUILD)/verbs-trace/tool
TOOL_TABLES = $(wildcard verbs-trace/tool/calls/*.txt)
LAUNCHER = $(TOOL)/launcher.o
TOOL_WRITTEN = $(addprefix $(TOOL)/,verbs.o kinds.o structures.o $(TOOL_TABLES:verbs-trace/tool/calls/%.txt=calls_%.o))
TOOL_OBJECTS = $(filter-out $(LAUNCHER),$(call objects,$(wildcard verbs-trace/tool/*.c))) $(TOOL_WRITTEN)
TOOL_FLAGS = -I$(TOOL) -fPIC -fvisibility=hidden -ftls-model=initial-exec

verbs-trace: verbs-trace/verbs-trace verbs-trace/libverbs-trace.so ## strace for verbs, for any program

$(TOOL)/verbs.h: $(wildcard verbs-trace/tool/*.py) verbs-trace/tool/structures.txt $(TOOL_TABLES)
	$(call run,GEN,$@,python3 -B verbs-trace/tool/generate.py $(@D))
$(TOOL_WRITTEN:.o=.c): $(TOOL)/verbs.h ;

$(TOOL)/%.o: verbs-trace/tool/%.c $(TOOL)/verbs.h
	$(call run,CC,$<,$(COMPILE) $(TOOL_FLAGS) -c $< -o $@)

# The library's own header warns of how its prototype is repeated.
$(TOOL)/%.o: $(TOOL)/%.c
	$(call run,CC,$<,$(COMPILE) $(TOOL_FLAGS) -Wno-array-parameter -c $< -o $@)

verbs-trace/libverbs-trace.so: $(TOOL_OBJECTS)
verbs-trace/libverbs-trace.so: LINK_FLAGS = -shared -Wl,-z,defs -Wl,--no-as-needed
verbs-trace/libverbs-trace.so: LIBS += -ldl
verbs-trace/verbs-trace: $(LAUNCHER)
verbs-trace/verbs-trace: LIBS =
verbs-trace/verbs-trace verbs-trace/libverbs-trace.so:
	$(LINK)
