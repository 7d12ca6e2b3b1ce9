# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds every program of every stage once more, with fake verbs (tests/fake/) in place of the RDMA
# libraries and with sanitizers, each into a test program of its own; `make fake-build`.

FAKE = $(BUILD)/tests/fake
FAKE_CFLAGS = -O1 -g -fno-omit-frame-pointer
FAKE_SANITIZE.asan = -fsanitize=address,undefined -fno-sanitize-recover=all
FAKE_SANITIZE.tsan = -fsanitize=thread
FAKE_WRAP = malloc calloc posix_memalign pthread_create eventfd fcntl poll ppoll \
	    clock_gettime

# The parts are compiled once for all stages: of its stage's name a part makes nothing but text.
# Their main gets another name, as the test program has its own.
define fake_rules
$(FAKE)/$(1)/tests/%.o: tests/%.c
	@mkdir -p $$(@D)
	$$(SAY) CC "$$< ($(1))"
	$$(Q)$$(COMPILE) -Werror $$(FAKE_CFLAGS) $$(FAKE_SANITIZE.$(1)) -c $$< -o $$@

$(FAKE)/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	$$(SAY) CC "$$< ($(1))"
	$$(Q)$$(COMPILE) -Wno-missing-prototypes $$(FAKE_CFLAGS) $$(FAKE_SANITIZE.$(1)) \
		-DOUR_STAGE='"fake"' -Dmain=program_main -c $$< -o $$@
endef
$(foreach sanitizer,asan tsan,$(eval $(call fake_rules,$(sanitizer))))

# fake_program SANITIZER STAGE ROLE
define fake_program
$(FAKE)/$(1)/$(2)/$(3): $$(patsubst %.c,$(FAKE)/$(1)/%.o,$$($(2).$(3)) $$($(2).parts) \
		$$(wildcard common/*.c tests/fake/*.c))
	@mkdir -p $$(@D)
	$$(SAY) LD $$@
	$$(Q)$$(CC) $$(FAKE_SANITIZE.$(1)) $$(LDFLAGS) $$(FAKE_WRAP:%=-Wl,--wrap=%) $$^ -pthread -o $$@
FAKE_PROGRAMS += $(FAKE)/$(1)/$(2)/$(3)
endef
$(foreach stage,$(STAGES),$(foreach role,client server,\
	$(eval $(call fake_program,asan,$(stage),$(role)))))

fake-build: $(FAKE_PROGRAMS)

.PHONY: fake-build
