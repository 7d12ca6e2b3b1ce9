# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds build/libverbs-trace.a, and says which options lead a program's calls through it. A verb
# that a program calls and that is in no list is found by the test `every verb is traced`.

# The calls, by the functions in cm_calls.c and verbs_calls.c that stand in for them.
VERBS_TRACED := $(shell sed -n 's/^TRACED(\([a-z_0-9]*\));$$/\1/p' verbs-trace/*_calls.c)
VERBS_TRACE_WRAP = $(VERBS_TRACED:%=-Wl,--wrap=%)
VERBS_TRACE_LIB = $(BUILD)/libverbs-trace.a
VERBS_TRACE_SOURCES = $(wildcard verbs-trace/*.c)

# Prototypes come with each function, by TRACED.
$(BUILD)/verbs-trace/%.o: verbs-trace/%.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(COMPILE) -c $< -o $@

$(VERBS_TRACE_LIB): $(VERBS_TRACE_SOURCES:%.c=$(BUILD)/%.o)
	$(SAY) AR $@
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
