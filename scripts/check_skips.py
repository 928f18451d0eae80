#!/usr/bin/env python3
"""Skipped tests: where everything is installed none is, but for those that skip-exemptions.txt lists with a reason.

    check_skips.py LOG

LOG is what `swift test` printed. Each test that was skipped is named, with what it says is missing. Elsewhere than in
CI nobody asks this.
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
            problems.append(f"skip-exemptions.txt: {kind} {rest}: it takes `test NAME -- REASON`")
    for line in log.splitlines():
        match = _SKIPPED.match(line)
        if match and match["name"].strip('"') not in reasons:
            problems.append(f"skipped: {match['name']}: {match['why'] or 'it does not say what is missing'}")
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
