# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds the programs that tests/tracer traces. Included by the top Makefile; `make tracer-build`.

TRACER = $(BUILD)/tests/tracer

tracer-build: verbs-trace $(TRACER)/sins

$(TRACER)/sins: tests/tracer/sins.c tests/tracer/pair.c tests/tracer/pair.h
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -std=c11 $(CPPFLAGS) $(CFLAGS) $(WARNINGS) -Werror $(filter %.c,$^) $(LIBS) -o $@

.PHONY: tracer-build
