# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Rows of tests/live, over the simulated device. A row that differs is a fault of the simulation, or has a reason in EXCEPT.

Contract: tests are those of live/simulated.py, as they are.
"""

from __future__ import annotations

import importlib
import types
from typing import Any

import pytest
from live.simulated import EXCEPT, FILES

# Files of which make check runs every row here, however long it takes over the drivers.
WHOLE = "odd_peers"


def without_long(function: Any) -> Any:
    """A copy of a test whose rows are all short."""
    copy = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copy.__dict__.update(function.__dict__)
    copy.pytestmark = [  # type: ignore[attr-defined]
        pytest.mark.parametrize(names, [pytest.param(*row.values, id=row.id) for row in rows]).mark
        for names, rows in (mark.args for mark in function.pytestmark)
    ]
    return copy


for file in FILES:
    for name, value in vars(importlib.import_module(f"live.test_{file}")).items():
        if name.startswith("test_") and name not in EXCEPT:
            globals()[f"{name}__{file}"] = without_long(value) if file in WHOLE.split() else value
        elif hasattr(value, "_pytestfixturefunction"):
            globals()[name] = value
