"""A table of kernels out of what NVIDIA's profiler wrote: python3 ncu-table.py COPY_GB_PER_S FILE.csv...

The files come from (without the kernel that measures how long a launch takes):

    ncu --clock-control none --cache-control none --csv -k 'regex:^([abd-z]|cl|cop|count_[a-km-z])' --metrics METRICS \\
        tadoc-bench gpu ARCHIVE --tasks TASK --rounds 1 --no-synthetic --no-first > FILE.csv

with the METRICS below. Bandwidth is that of the device's memory, over that of copies on it; the other columns are how busy the
profiler found each unit. What limits a kernel is the busiest unit, or waiting (for memory, barriers or a launch) if none is busy.
"""

import collections
import csv
import sys

SHARES = {
    "memory": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "L2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "L1, local": "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "arithmetic": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
}
METRICS = ["gpu__time_duration.sum", "dram__bytes.sum", *SHARES.values()]
UNITS = {"ns": 1e-9, "nsecond": 1e-9, "us": 1e-6, "usecond": 1e-6, "ms": 1e-3, "msecond": 1e-3, "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}
# From so many percent on, a unit counts as what limits a kernel.
BUSY = 50


def launches(path):
    """The metrics of every launch, with the name of its kernel."""
    with open(path) as file:
        rows = csv.DictReader(line for line in file if line.startswith('"'))
        found = collections.defaultdict(dict)
        for row in rows:
            value = float(row["Metric Value"].replace(",", ""))
            found[row["ID"], row["Kernel Name"]][row["Metric Name"]] = value * UNITS.get(row["Metric Unit"], 1)
    # The last launch may have been cut off.
    return [(name, metrics) for (_, name), metrics in found.items() if all(metric in metrics for metric in METRICS)]


def main():
    copies = float(sys.argv[1]) * 1e9
    kernels = collections.defaultdict(list)
    for path in sys.argv[2:]:
        for name, metrics in launches(path):
            kernels[name].append(metrics)
    print("| kernel | launches | longest µs | MB | GB/s | of copies |", " | ".join(SHARES), "| limited by |")
    print("| --- |", "---: | " * (5 + len(SHARES)), "--- |")
    time = "gpu__time_duration.sum"
    for name, runs in sorted(kernels.items(), key=lambda kernel: -max(run[time] for run in kernel[1])):
        # The longest launch says what a kernel does with work enough; many are on levels of a few rules.
        longest = max(runs, key=lambda run: run[time])
        seconds, moved = longest[time], longest["dram__bytes.sum"]
        shares = {unit: longest[metric] for unit, metric in SHARES.items()}
        unit, share = max(shares.items(), key=lambda entry: entry[1])
        limit = unit if share >= BUSY else "waiting"
        cells = [name, str(len(runs)), f"{seconds * 1e6:.1f}", f"{moved / 1e6:.1f}", f"{moved / seconds / 1e9:.0f}"]
        cells += [f"{100 * moved / seconds / copies:.0f}%", *(f"{share:.0f}%" for share in shares.values()), limit]
        print("|", " | ".join(cells), "|")


main()
