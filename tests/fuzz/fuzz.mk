# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds the harnesses of tests/fuzz/ with clang's libFuzzer, each with the parts of a stage that it
# tries, into build/tests/fuzz/STAGE/HARNESS; `make fuzz-build`.

FUZZ = $(BUILD)/tests/fuzz
FUZZ_CC ?= clang
FUZZ_SECONDS ?= 60
FUZZ_CFLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
	      -fno-sanitize-recover=all
FUZZ_LDFLAGS = -fsanitize=fuzzer,address,undefined
# Harnesses, and of which stage's parts.
FUZZ_PROGRAMS = ping-sr-1/refusal ping-sr-1/command_line ping-sr-1/numbers \
		blast-sr-2/connect_info blast-sr-2/credits blast-sr-2/command_line
# For a compiler without libFuzzer: tests/fuzz/seeds.c in its place.
FUZZ_MAIN =
# What a harness has its own of.
FUZZ_WRAP.command_line = our_look_up_addresses our_trace
fuzz_objects = $(patsubst %.c,$(FUZZ)/objects/%.o,$(1))

$(FUZZ)/objects/%.o: %.c
	$(call run,CC,"$< (fuzz)",$(FUZZ_CC) -std=c11 $(CPPFLAGS) $(FUZZ_CFLAGS) $(WARNINGS) $(if $(filter tests/%,$<),-Werror) -MMD -MP -c $< -o $@)

# Of the stages whose parts are tried, and of those that they stand on.
$(FUZZ)/libstages.a: $(call fuzz_objects,$(filter $(addsuffix /%,ping-sr-0 ping-sr-1 ping-sr-2 blast-sr-2),$(STAGE_SOURCES))) Makefile
	$(ARCHIVE)

# fuzz_program STAGE HARNESS
define fuzz_program
$(FUZZ)/$(1)/$(2): $$(call fuzz_objects,tests/fuzz/$(2).c tests/fuzz/fuzz.c $(FUZZ_MAIN) $(1)/stage.c $$(ROOM_SOURCES)) $(FUZZ)/libstages.a
	$$(call run,LD,$$@,$(FUZZ_CC) $$(FUZZ_LDFLAGS) $$(LDFLAGS) $$(FUZZ_LINK) $$^ $(LIBS) -o $$@)
$(FUZZ)/$(1)/$(2): FUZZ_LINK = $$(FUZZ_WRAP.$(2):%=-Wl,--wrap=%)
endef
$(foreach program,$(FUZZ_PROGRAMS),$(eval $(call fuzz_program,$(patsubst %/,%,$(dir $(program))),$(notdir $(program)))))

fuzz-programs: $(FUZZ_PROGRAMS:%=$(FUZZ)/%)
	@:

# A compiler that has no libFuzzer is not a reason for the other tests not to be built.
fuzz-build: ## build the harnesses of tests/fuzz/
	@why=$$($(MAKE) --no-print-directory -s print-fuzz-missing); if [ "$$why" ]; then echo "fuzz: not built: $$why"; \
		else $(MAKE) --no-print-directory fuzz-programs; fi

print-fuzz: ; @echo $(FUZZ_PROGRAMS)
print-fuzz-missing:
	@mkdir -p $(FUZZ)
	@echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return 0 * (d && n); }' | \
		$(FUZZ_CC) -x c - -fsanitize=fuzzer,address,undefined -o $(FUZZ)/probe 2>$(FUZZ)/probe.log || \
		echo "$(FUZZ_CC) has no libFuzzer here (Debian: clang, libclang-rt-dev): see $(FUZZ)/probe.log"
