# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds verbs-trace/verbs-trace, the tool for any program and for the option -t of the stages, and the
# shared object that it preloads. Both libraries are linked in, so that the versions of their functions
# are known.
TOOL_BUILD = $(BUILD)/verbs-trace/tool
TOOL_TABLES = $(wildcard verbs-trace/tool/calls/*.txt)
TOOL_WRITTEN = $(TOOL_BUILD)/verbs.h
TOOL_OBJECTS = $(patsubst verbs-trace/tool/%.c,$(TOOL_BUILD)/%.o, \
		 $(filter-out %/launcher.c %/target.c,$(wildcard verbs-trace/tool/*.c))) \
	       $(TOOL_BUILD)/verbs.o $(TOOL_BUILD)/kinds.o $(patsubst verbs-trace/tool/calls/%.txt,$(TOOL_BUILD)/calls_%.o,$(TOOL_TABLES))
TOOL_COMPILE = $(COMPILE) -I$(TOOL_BUILD) -fPIC -fvisibility=hidden -ftls-model=initial-exec

verbs-trace: verbs-trace/verbs-trace verbs-trace/libverbs-trace.so ## strace for verbs, for any program

$(TOOL_WRITTEN): verbs-trace/tool/generate.py verbs-trace/tool/verb.py $(TOOL_TABLES)
	$(SAY) GEN $@
	$(Q)python3 -B verbs-trace/tool/generate.py $(@D)
$(TOOL_BUILD)/verbs.c $(TOOL_BUILD)/kinds.c $(TOOL_TABLES:verbs-trace/tool/calls/%.txt=$(TOOL_BUILD)/calls_%.c): $(TOOL_WRITTEN) ;

$(TOOL_BUILD)/%.o: verbs-trace/tool/%.c $(TOOL_WRITTEN)
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(TOOL_COMPILE) -c $< -o $@

# The library's own header warns of how its prototype is repeated.
$(TOOL_BUILD)/%.o: $(TOOL_BUILD)/%.c
	$(SAY) CC $<
	$(Q)$(TOOL_COMPILE) -Wno-array-parameter -c $< -o $@

verbs-trace/libverbs-trace.so: $(TOOL_OBJECTS)
	$(SAY) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs -Wl,--no-as-needed $^ $(LIBS) -ldl -o $@

verbs-trace/verbs-trace: $(TOOL_BUILD)/launcher.o $(TOOL_BUILD)/target.o
	$(SAY) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@
