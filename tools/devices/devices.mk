# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# devices looks at RDMA devices. Of the suite it takes what any of its programs needs: options, messages, JSON.

TAKES_devices = common program
BUILT_devices = tools/devices/devices
INSTALLED_devices = 755:lib/devices:tools/devices/devices $(addprefix 644:lib/devices:,$(wildcard tools/devices/*.ini tools/devices/*.py))

ifndef SUITE # alone
SUITE = $(BUILD)/libsuite.a
$(SUITE): $(call objects,$(filter-out %_main.c,$(wildcard $(addsuffix /*.c,common program program/measure program/serve))))
	$(ARCHIVE)
endif
tools/devices/devices: $(call objects,$(wildcard tools/devices/*.c)) $(SUITE)
	$(LINK)
tools/devices/devices: LIBS += -lm
