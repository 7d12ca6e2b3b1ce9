# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# What make can do with captured packets; the code is Python, and nothing is built.

TAKES_capture = tools/folders.py tools/files docs/protocol.md

# CAPTURE="--iwarp --loss 5" and the like go to the program.
capture: ## STAGE=ping-sr-3: run it between two hosts of the lab, and print its packets as a ladder
	$(call ready,build lab capture,--silent all)
	@python3 -B -m tools.capture $(STAGE) $(CAPTURE)
