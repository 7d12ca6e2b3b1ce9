# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What is said of a processor that saves power: with files made up, as virtual machines have none."""

from pathlib import Path

from bench.comparison import place


def write(cpus: Path, files: dict[str, str]) -> None:
    """As in /sys/devices/system/cpu."""
    for name, text in files.items():
        (cpus / name).parent.mkdir(parents=True, exist_ok=True)
        (cpus / name).write_text(text + "\n")


def state(number: int, name: str, us: int, disabled: int = 0) -> dict[str, str]:
    folder = f"cpu0/cpuidle/state{number}"
    return {f"{folder}/name": name, f"{folder}/latency": str(us), f"{folder}/disable": str(disabled)}


def test_nothing_is_known(tmp_path: Path) -> None:
    assert place.unsteady(tmp_path) == [] and place.turbo(tmp_path) == "" and place.idle_states(tmp_path) == []


def test_each_is_named_with_its_remedy(tmp_path: Path) -> None:
    write(tmp_path, {"cpu0/cpufreq/scaling_governor": "powersave", "intel_pstate/no_turbo": "0", **state(0, "POLL", 0), **state(1, "C1", 2), **state(2, "C6", 150)})
    governor, idle, turbo = place.unsteady(tmp_path)
    assert "powersave" in governor and governor.endswith("cpupower frequency-set -g performance")
    assert "(C6 takes 150 us)" in idle and "cpupower idle-set -D 10" in idle
    assert turbo.endswith(f"echo 1 >{tmp_path}/intel_pstate/no_turbo")


def test_all_is_steady(tmp_path: Path) -> None:
    write(tmp_path, {"cpu0/cpufreq/scaling_governor": "performance", "cpufreq/boost": "0", **state(1, "C1", 2), **state(2, "C6", 150, disabled=1)})
    assert place.unsteady(tmp_path) == [] and place.turbo(tmp_path) == "off" and place.idle_states(tmp_path) == [("C1", 2)]


def test_boost(tmp_path: Path) -> None:
    write(tmp_path, {"cpufreq/boost": "1"})
    assert place.unsteady(tmp_path)[0].endswith(f"echo 0 >{tmp_path}/cpufreq/boost")
