# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Builds, tests and installs one product alone: make -C tools/PRODUCT [all|check|install|clean].
#
# Place: the product's Makefile sets PRODUCT, and includes this. Contract: the tree has tools/*.mk, the product's folder, and
# what it TAKES (make -C tools/PRODUCT print-TAKES); the product's own .mk says what is BUILT and INSTALLED, and what is
# TRIED by its tests.

ifeq ($(wildcard tools/alone.mk),)
# Paths are relative to the top of the tree: make goes there.
all check install clean print-TAKES:
	@$(MAKE) --no-print-directory -C ../.. -f tools/$(PRODUCT)/Makefile $@
else
all:
include tools/build.mk tools/$(PRODUCT)/$(PRODUCT).mk
TAKES = $(TAKES_$(PRODUCT))
PYTHON ?= /usr/bin/python3

all: $(BUILT_$(PRODUCT))
check: all $(TRIED_$(PRODUCT))
	$(PYTHON) -m pytest -q $(PYTEST) tools/$(PRODUCT)/tests
ifdef INSTALLED_$(PRODUCT)
install: all
	$(call put,$(INSTALLED_$(PRODUCT)))
endif
clean:
	rm -rf $(BUILD) $(filter tools/%,$(BUILT_$(PRODUCT)))
endif
.PHONY: all check install clean
