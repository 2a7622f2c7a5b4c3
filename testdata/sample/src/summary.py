"""Prints the highest and the lowest water of each station and day.

Usage: python summary.py readings.jsonl
"""

import json
import sys
from collections import defaultdict


def read(path):
    """Yields the readings of a file that are not doubtful."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            reading = json.loads(line)
            if "doubtful" not in reading["marks"]:
                yield reading


def summarise(readings):
    """Returns the lowest and the highest reading of each station and day."""
    days = defaultdict(list)
    for reading in readings:
        day = reading["time"][:10]
        days[reading["station"], day].append(reading)
    for key, readings in sorted(days.items()):
        lowest = min(readings, key=lambda reading: reading["level_mm"])
        highest = max(readings, key=lambda reading: reading["level_mm"])
        yield key, lowest, highest


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    for (station, day), lowest, highest in summarise(read(sys.argv[1])):
        print(
            f"{station}\t{day}\t"
            f"low {lowest['level_mm']} mm at {lowest['time'][11:16]}\t"
            f"high {highest['level_mm']} mm at {highest['time'][11:16]}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
