#!/usr/bin/env python3
"""Skipped tests: in CI, where everything is installed, only the tests in skip-exemptions.txt may be skipped.

    check_skips.py LOG

LOG is the output of `swift test`. Each skipped test is reported with its reason. Used in CI only.
"""

import re
import sys

import swift_source

# `➜ Test "a name" skipped: "why"`, or `➜ Test function() skipped.`
_SKIPPED = re.compile(r"^\W*(?:Test|Suite) (?P<name>.+) skipped(?:\.|: \"(?P<why>.*?)\"?)$")


def check(log, exemptions):
    """Violations in the output of a run; `exemptions` is [(kind, "NAME -- REASON")]."""
    problems, reasons = [], {}
    for kind, rest in exemptions:
        name, _, reason = rest.partition(" -- ")
        reasons[name.strip()] = reason.strip()
        if kind != "test" or not reason.strip():
            problems.append(f"skip-exemptions.txt: {kind} {rest}: write `test NAME -- REASON`")
    for line in log.splitlines():
        match = _SKIPPED.match(line)
        if match and match["name"].strip('"') not in reasons:
            problems.append(f"skipped: {match['name']}: {match['why'] or 'without a reason'}")
    return problems


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        problems = check(file.read(), swift_source.entries("scripts/skip-exemptions.txt"))
    print("\n".join(problems), end="\n" if problems else "", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
