#!/usr/bin/env python3
"""Forbidden constructs: no response can make the library trap, and the compiler checks core for data races.

Sources/ has no force unwrap, no implicitly unwrapped optional, no `try!`, `as!`, `fatalError`, `unowned` or
`unsafelyUnwrapped`. Sources/ApusCore also has no `@unchecked Sendable` and no `nonisolated(unsafe)`: its state is in
`Mutex` values. There are no exemptions. Sources/ApusJSON, which reads what servers send, uses unsafe memory only in the
files that UNSAFE lists with the reason.
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
# The files of ApusJSON with unsafe memory, and why they need it.
UNSAFE = {
    "Tape/JSONTape.swift": "one allocation for a text and one for its words; each position and range is checked",
    "Tape/TapeParser.swift": "writes words into memory that grows without zeroing",
    "Text/JSONCursor.swift": "reads a copy that ends with zero bytes, so that no byte needs a check of its own",
    "Text/JSONDouble.swift": "reads digits in place",
    "Text/JSONEscape.swift": "reads escapes in place, and writes into a new string",
    "Text/JSONText.swift": "grows without zeroing, and writes eight bytes at once; each slice is checked",
    "Values/JSONNumber.swift": "hands the bytes of a string to the parser",
    "Values/JSONValue+Parsing.swift": "hands the bytes of a collection to the parser",
    "Settings/SnakeCase.swift": "compares names in place",
    "Text/StackBudget.swift": "takes the address of a local variable, and never reads from it",
    "Types/TypeTable.swift": "atomics in memory that is never moved or freed",
    "Decoding/JSONDocument.swift": "compares names in place",
    "Decoding/JSONDocument+Values.swift": "casts between a type and itself; fills arrays without zeroing",
    "Decoding/JSONReader+Decoding.swift": "reads a part of the text in place; casts between a type and itself",
    "Decoding/JSONReader+Errors.swift": "owns the copy that is read, for as long as its reader",
    "Decoding/TapeDecodable.swift": "casts between a type and itself",
    "Encoding/JSONOutput.swift": "nodes that grow without checks for exclusive access; each index is checked",
    "Encoding/JSONOutput+Values.swift": "casts between a type and itself, or one only known as conforming",
    "Encoding/JSONOutput+Text.swift": "hands the bytes of the text to the caller's copy",
    "Direct/JSONReader.swift": "compares names in place",
    "Direct/JSONReader+Scalars.swift": "reads numbers in place",
    "Direct/JSONWriter.swift": "hands the bytes of the text to the caller's copy",
    "Coders/JSONCoding+Coding.swift": "hands the bytes of the caller to the parser",
    "Coders/JSONCoding+Foundation.swift": "copies the bytes of the caller",
}
CORE = [
    (r"@unchecked\s+Sendable\b", "`@unchecked Sendable` (use `Mutex`)"),
    (r"\bnonisolated\(unsafe\)", "`nonisolated(unsafe)` (use `Mutex`)"),
]


JSON = "Sources/ApusJSON/"


def check(path, text):
    code = swift_source.code(text)
    rules = EVERYWHERE + (CORE if path.startswith("Sources/ApusCore/") else [])
    if path.startswith(JSON) and path.removeprefix(JSON) not in UNSAFE:
        rules = rules + [(r"\b(?:\w*Unsafe\w*|unsafe\w+|assumingMemoryBound|unchecked)\b",
                          "unsafe memory (list the file with its reason in UNSAFE)")]
    found = [(swift_source.line_of(code, match.start()), what)
             for pattern, what in rules for match in re.finditer(pattern, code)]
    return [f"{path}:{line}: {what}" for line, what in sorted(found)]


def main():
    files = swift_source.swift_files("Sources")
    problems = [problem for path in files for problem in check(path, swift_source.read(path))]
    problems += [f"check_constructs.py: {path} has no unsafe memory" for path in UNSAFE
                 if JSON + path not in files or "nsafe" not in swift_source.read(JSON + path)]
    print("\n".join(problems) if problems else f"{len(files)} files have no forbidden construct",
          file=sys.stderr if problems else sys.stdout)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
