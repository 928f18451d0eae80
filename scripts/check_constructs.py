#!/usr/bin/env python3
"""Forbidden constructs: no response can make the library trap, and the compiler checks core for data races.

Sources/ has no force unwrap, no implicitly unwrapped optional, no `try!`, `as!`, `fatalError`, `unowned` or
`unsafelyUnwrapped`. Sources/ApusCore also has no `@unchecked Sendable` and no `nonisolated(unsafe)`: its state is in
`Mutex` values. There are no exemptions.
"""

import re
import sys

import swift_source

EVERYWHERE = [
    (r"\btry!", "`try!`"),
    (r"\bas!", "`as!`"),
    (r"(?<![.\w`])fatalError\s*\(", "`fatalError`"),
    (r"\bunowned\b", "`unowned`"),
    (r"\bunsafelyUnwrapped\b", "`unsafelyUnwrapped`"),
    (r"(?<=[\w)\]}>\"?`])(?<!\btry)(?<!\bas)!(?!=)", "a force unwrap or an implicitly unwrapped optional"),
]
CORE = [
    (r"@unchecked\s+Sendable\b", "`@unchecked Sendable` (use `Mutex`)"),
    (r"\bnonisolated\(unsafe\)", "`nonisolated(unsafe)` (use `Mutex`)"),
]


def check(path, text):
    code = swift_source.code(text)
    rules = EVERYWHERE + (CORE if path.startswith("Sources/ApusCore/") else [])
    found = [(swift_source.line_of(code, match.start()), what)
             for pattern, what in rules for match in re.finditer(pattern, code)]
    return [f"{path}:{line}: {what}" for line, what in sorted(found)]


def main():
    files = swift_source.swift_files("Sources")
    problems = [problem for path in files for problem in check(path, swift_source.read(path))]
    print("\n".join(problems) if problems else f"{len(files)} files have no forbidden construct",
          file=sys.stderr if problems else sys.stdout)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
