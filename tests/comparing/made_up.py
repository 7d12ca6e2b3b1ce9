# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Made-up results, from which the conclusions are known in advance."""

from __future__ import annotations

from bench.comparison.plan import Point
from bench.comparison.store import Results, Sample

LOADS = (1, 100, 1000, 10000)
NOISE = (0.99, 1.0, 1.01, 1.0, 0.995)
WILD = (0.2, 5.0, 0.3, 3.0, 1.0)
OWN = 0.1  # CPUs that the machine uses by itself


def sample(way: str, load: int, number: int, rate: float, cpus: float, p50: float) -> Sample:
    """cpus is what the programs cost the machine."""
    figures = {"rate": rate, "machine_cpus": cpus + OWN, "p50_us": p50, "client_cpus": cpus / 2, "server_cpus": cpus / 2}
    return Sample("RoCE", Point(way, load), number, {**figures, "switches": rate, "client_sleeps": rate / 2})


def results(rounds: int = 5, noise: tuple[float, ...] = NOISE) -> Results:
    """Polling takes two CPUs, sleeping 400 us a message: so they cost the same at 5,000 messages a second."""
    made = Results(environment={"kernel": "6.1 <made up>", "emulated": "a test"}, background=[OWN])
    for number in range(1, rounds + 1):
        wobble = noise[number % len(noise)]
        for load in LOADS:
            made.samples.append(sample("ping-sr-2", load, number, load, 2.0, 30))
            made.samples.append(sample("ping-sr-3", load, number, load, 400e-6 * load * wobble, 300 * wobble))
        made.samples.append(sample("ping-sr-2", 0, number, 30000, 2.0, 30))
        made.samples.append(sample("ping-sr-3", 0, number, 3000, 1.2 * wobble, 300 * wobble))
    return made


def carried(made: Results, load: int, rate: float, way: str = "ping-sr-3") -> Results:
    """The same results, if a way reaches only `rate` of a load."""
    for one in made.samples:
        if one.point == Point(way, load):
            one.figures["rate"] = rate
    return made
