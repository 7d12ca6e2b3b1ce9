# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Reads the outputs of all programs into figures with the same names.

Place: below runner.py. Contract: microseconds, whole round trips, messages per second. A figure that a program does not
print is left out, not estimated. Raises Unreadable if an output cannot be read.
"""

from __future__ import annotations

import json
import re
from typing import Any

Figures = dict[str, float]


ENOUGH = 10000  # messages: with fewer, the slowest thousandth is only a handful


class Unreadable(ValueError):
    """A program's output has another form than expected."""


def percentiles(result: dict[str, Any]) -> Figures:
    """The round trips of a result, if it has any."""
    trips = result.get("round_trip_us") or {}
    return {f"{name}_us": float(trips[name]) for name in ("p50", "mean", "p99", "max") if name in trips}


def ours(text: str) -> Figures:
    """A result in one line of JSON, see bench/results.md; bench/tcp_ping prints it, too."""
    try:
        result = json.loads(text.splitlines()[0])
        count, seconds = float(result["count"]), float(result["seconds"])
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise Unreadable(f"no result: {text[:80]!r}") from error
    if not count or not seconds:
        raise Unreadable("it was told to stop in its warm-up")
    figures = {"count": count, "seconds": seconds, "rate": count / seconds, **percentiles(result)}
    if count >= ENOUGH and "p99_9" in (result.get("round_trip_us") or {}):
        figures["p99_9_us"] = float(result["round_trip_us"]["p99_9"])
    figures["warm_up"] = float(result.get("warm_up", 0))
    if "bytes_per_second" in result:
        figures["mb_per_second"] = result["bytes_per_second"] / 1e6
    for name in ("sleeps", "empty_wake_ups"):
        if "cq" in result:
            figures[name] = float(result["cq"][name]) / seconds
    return figures


def columns(text: str, wanted: int) -> list[float]:
    """The line of numbers in perftest's table."""
    for line in text.splitlines():
        words = line.split()
        if len(words) == wanted and all(re.fullmatch(r"[\d.]+", word) for word in words):
            return [float(word) for word in words]
    raise Unreadable(f"no line of {wanted} numbers: {text[-80:]!r}")


def perftest_latency(text: str) -> Figures:
    """Send and write tests of perftest print half of a round trip. For a READ see perftest_whole."""
    row = columns(text, 9)
    count, trips = row[1], 2.0
    figures = {"p50_us": row[4], "mean_us": row[5], "p99_us": row[7], "max_us": row[3]}
    figures = {name: trips * value for name, value in figures.items()}
    return {**figures, "count": count, "seconds": count * figures["mean_us"] / 1e6, "rate": 1e6 / figures["mean_us"]}


def perftest_whole(text: str) -> Figures:
    """ib_read_lat and ib_atomic_lat print the whole round trip."""
    figures = perftest_latency(text)
    for name in ("p50_us", "mean_us", "p99_us", "max_us", "seconds"):
        figures[name] /= 2
    return {**figures, "rate": 1e6 / figures["mean_us"]}


def perftest_stream(text: str) -> Figures:
    """bytes, iterations, peak, average MiB/s, Mpps."""
    size, count, _, mebibytes, millions = columns(text, 5)
    rate = mebibytes * 2**20 / size if size else millions * 1e6
    return {"count": count, "rate": rate, "mb_per_second": mebibytes * 2**20 / 1e6, "seconds": count / rate}


def pingpong(text: str) -> Figures:
    """ibv_rc_pingpong: '1000 iters in 0.04 seconds = 43.20 usec/iter'."""
    found = re.search(r"(\d+) iters in ([\d.]+) seconds = ([\d.]+) usec/iter", text)
    if not found:
        raise Unreadable(f"no mean: {text[-80:]!r}")
    count, seconds, mean = (float(word) for word in found.groups())
    return {"count": count, "seconds": seconds, "mean_us": mean, "rate": 1e6 / mean}


UNITS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "sec": 1e6}


def qperf(text: str) -> Figures:
    """qperf: 'latency = 21.6 us', half a round trip."""
    found = re.search(r"latency\s*=\s*([\d.]+) (ns|us|ms|sec)", text)
    if not found:
        raise Unreadable(f"no latency: {text[-80:]!r}")
    mean = 2 * float(found.group(1)) * UNITS[found.group(2)]
    return {"mean_us": mean, "rate": 1e6 / mean}


def threads(text: str) -> Figures:
    """ping-mt-4: '4 threads share nothing: 8688 READs/s, 166.0 us of CPU each'."""
    found = re.search(r"([\d.]+) READs/s", text)
    if not found:
        raise Unreadable(f"no rate: {text[-80:]!r}")
    return {"rate": float(found.group(1))}


def read(family: str, program: str, text: str) -> Figures:
    """The figures that a client printed."""
    if family in ("ours", "tcp"):
        return ours(text)
    if family == "threads":
        return threads(text)
    if family == "pingpong":
        return pingpong(text)
    if family == "qperf":
        return qperf(text)
    if program.endswith("_bw"):
        return perftest_stream(text)
    return perftest_whole(text) if program in ("ib_read_lat", "ib_atomic_lat") else perftest_latency(text)
