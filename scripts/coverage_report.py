"""Prints the line coverage of each target from an export of llvm-cov, and fails below the floor.

    coverage_report.py EXPORT.json [--missing]
"""

import fnmatch
import json
import sys

import swift_source

FLOOR = 95.0
WORST = 12


def summarize(export, exclusions):
    """{path: (covered lines, lines, [missed line ranges])} of every library file in Sources/."""
    files = {}
    for entry in export["data"][0]["files"]:
        path = entry["filename"]
        if "/Sources/" not in path:
            continue
        path = "Sources/" + path.split("/Sources/", 1)[1]
        if any(fnmatch.fnmatch(path, pattern) for pattern in exclusions):
            continue
        lines = entry["summary"]["lines"]
        files[path] = (lines["covered"], lines["count"], missed(entry.get("segments", [])))
    return files


def missed(segments):
    """Line ranges that were never reached. A segment is [line, column, count, has count, is entry, is gap]."""
    ranges = []
    for here, following in zip(segments, segments[1:]):
        if here[3] and not here[5] and here[2] == 0:
            if ranges and here[0] <= ranges[-1][1] + 1:
                ranges[-1] = (ranges[-1][0], max(ranges[-1][1], following[0]))
            else:
                ranges.append((here[0], following[0]))
    return ranges


def percent(covered, count):
    return 100.0 * covered / count if count else 100.0


def report(files, floor=FLOOR, missing=False):
    """The report's lines, and whether the total reaches the floor."""
    targets = {}
    for path, (covered, count, _) in files.items():
        sums = targets.setdefault(path.split("/")[1], [0, 0])
        sums[0] += covered
        sums[1] += count
    lines = [f"{name:<20} {covered:>6} of {count:>6} lines  {percent(covered, count):6.2f} %"
             for name, (covered, count) in sorted(targets.items())]
    covered = sum(it[0] for it in targets.values())
    count = sum(it[1] for it in targets.values())
    worst = sorted(files.items(), key=lambda it: it[1][0] - it[1][1])[: None if missing else WORST]
    for path, (done, all_lines, ranges) in worst:
        if done == all_lines:
            continue
        where = "  " + " ".join(f"{a}-{b}" if a != b else f"{a}" for a, b in ranges) if missing else ""
        lines.append(f"  {all_lines - done:>4} missed  {percent(done, all_lines):6.2f} %  {path}{where}")
    total = percent(covered, count)
    lines.append(f"{'line coverage':<20} {covered:>6} of {count:>6} lines  {total:6.2f} %  (floor {floor:.0f} %)")
    return lines, total >= floor


def main(arguments):
    with open(arguments[0], encoding="utf-8") as file:
        export = json.load(file)
    exclusions = [path for path, _ in swift_source.entries("scripts/coverage-exclusions.txt")]
    wrong = [path for path in exclusions if "/Apple/" not in path]
    lines, enough = report(summarize(export, exclusions), missing="--missing" in arguments)
    print("\n".join(lines))
    if wrong:
        print("coverage-exclusions.txt may list only Apple-only files, not: " + " ".join(wrong), file=sys.stderr)
    return 0 if enough and not wrong else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
