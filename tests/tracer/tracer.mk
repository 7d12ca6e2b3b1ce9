# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds the programs that tests/tracer traces. Included by the top Makefile; `make tracer-build`.

TRACER = $(BUILD)/tests/tracer

tracer-build: verbs-trace $(TRACER)/sins $(TRACER)/extended $(TRACER)/odd $(TRACER)/odd-address $(TRACER)/static

$(TRACER)/sins $(TRACER)/extended: $(TRACER)/%: tests/tracer/%.c tests/tracer/pair.c tests/tracer/pair.h
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -std=c11 $(CPPFLAGS) $(CFLAGS) $(WARNINGS) -Werror $(filter %.c,$^) $(LIBS) -o $@

$(TRACER)/odd-address: SANITIZE = -fsanitize=address
$(TRACER)/odd $(TRACER)/odd-address: tests/tracer/odd.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) -std=c11 $(CPPFLAGS) $(CFLAGS) $(WARNINGS) -Werror $(SANITIZE) $< $(LIBS) -o $@

$(TRACER)/static:
	@mkdir -p $(@D)
	$(SAY) CC $@
	$(Q)echo 'int main(void) { return 0; }' | $(CC) -static -x c - -o $@

.PHONY: tracer-build
