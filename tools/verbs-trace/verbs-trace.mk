# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# verbs-trace, for any program and for the option -t of the stages: a program, and a shared object that it preloads. Both
# libraries are linked in, so that the versions of their functions are known.

TAKES_verbs-trace = tools/verbs
BUILT_verbs-trace = $(addprefix tools/verbs-trace/,verbs-trace libverbs-trace.so)
INSTALLED_verbs-trace = 755:bin:tools/verbs-trace/verbs-trace 644:lib/verbs-trace:tools/verbs-trace/libverbs-trace.so \
	$(addprefix 644:lib/verbs-trace/picture:,$(wildcard tools/verbs-trace/picture/*.*)) 644:share/man/man1:tools/verbs-trace/verbs-trace.1

include tools/verbs/verbs.mk
TRACE = $(BUILD)/tools/verbs-trace/tool
TRACE_WRITTEN = $(addprefix $(TRACE)/,calls.o structures.o verbs.o)
TRACE_OBJECTS = $(call objects,$(wildcard tools/verbs-trace/tool/*.c))
$(TRACE)/%.o: FLAGS = -I$(TRACE) $(PRELOADED)
$(TRACE)/verbs.h: $(TABLES)
	$(call run,GEN,$@,$(GENERATE)/generate.py $(@D))
$(TRACE_WRITTEN:.o=.c): $(TRACE)/verbs.h ;
$(TRACE_OBJECTS): $(TRACE)/verbs.h

tools/verbs-trace/verbs-trace: $(TRACE)/launcher.o
tools/verbs-trace/verbs-trace: LIBS =
tools/verbs-trace/libverbs-trace.so: $(filter-out %/launcher.o,$(TRACE_OBJECTS)) $(TRACE_WRITTEN)
tools/verbs-trace/libverbs-trace.so: LINK_FLAGS = -shared -Wl,-z,defs -Wl,--no-as-needed
tools/verbs-trace/libverbs-trace.so: LIBS += -ldl
$(BUILT_verbs-trace):
	$(LINK)

# Programs that its tests trace.
TRIED_verbs-trace = $(addprefix $(BUILD)/tests/tracer/,sins extended harmless harmless-address)
$(TRIED_verbs-trace): tools/verbs-trace/tests/$$(firstword $$(subst -, ,$$(@F))).c tools/verbs/two_ends.h
$(TRIED_verbs-trace): ALONE += -Itools
$(TRIED_verbs-trace): WARNINGS += -Werror
$(TRIED_verbs-trace):
	$(COMPILE_ALONE)

verbs-trace: $(BUILT_verbs-trace) ## strace for verbs, for any program
.PHONY: verbs-trace
