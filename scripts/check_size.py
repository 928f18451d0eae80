#!/usr/bin/env python3
"""Sizes: limits for the length of files and functions.

A file has at most 400 lines (tests 600; state machines listed in size-exemptions.txt 700), and nine of ten files of
Sources/ at most 300. A function, initializer, subscript or computed property has at most 50 lines, from its first line
to its closing brace, and 4 parameters. Exemptions are listed with a reason; an unneeded one fails the check.
"""

import re
import sys

import swift_source

ROOTS = ("Sources", "Tests", "Examples", "Benchmarks", "Tools")
FILE, TEST_FILE, STATE_MACHINE, NINTH_DECILE = 400, 600, 700, 300
FUNCTION_LINES, PARAMETERS = 50, 4

_DECLARATION = re.compile(
    r"(?<![.\w`])(?:func\s+(?P<name>`?\w+`?|[^\s\w(<]+)|(?P<init>init)[?!]?(?=\s*[(<])|(?P<deinit>deinit)(?=\s*\{)"
    r"|(?P<subscript>subscript)(?=\s*[(<])|var\s+(?P<var>`?\w+`?)\s*:[^={}\n]*(?=\{))"
)
# Possible starts of the line after a declaration without a body, such as a protocol's requirement.
_NEXT = re.compile(
    r"\s*(?:\}|@|#|$|(?:public|package|internal|private|fileprivate|open|static|class|final|mutating|nonmutating"
    r"|nonisolated|isolated|override|convenience|required|consuming|borrowing|indirect|lazy|func|var|let|init|deinit"
    r"|subscript|associatedtype|typealias|case|struct|enum|actor|extension|protocol)\b)"
)


class Function:
    def __init__(self, name, line, lines, parameters):
        self.name, self.line, self.lines, self.parameters = name, line, lines, parameters


def functions(text):
    """The functions, initializers, subscripts and computed properties of a file, including nested ones."""
    code = swift_source.code(text)
    found = []
    for match in _DECLARATION.finditer(code):
        kind = match.lastgroup
        name = match.group(kind) if kind in ("name", "var") else kind
        index, parameters = match.end(), []
        if kind in ("name", "init", "subscript"):
            index = _after_generics(code, index)
            if index >= len(code) or code[index] != "(":
                continue
            close = swift_source.matching(code, index)
            parameters = _parameters(code[index + 1 : close])
            name += "(" + "".join(label + ":" for label in parameters) + ")"
            index = close + 1
        body = _body(code, index)
        start = swift_source.line_of(code, match.start())
        end = swift_source.line_of(code, swift_source.matching(code, body)) if body is not None else start
        found.append(Function(name, start, end - start + 1, len(parameters)))
    return found


def _after_generics(code, index):
    while index < len(code) and code[index] in " \n?!":
        index += 1
    if index < len(code) and code[index] == "<":
        depth = 0
        while index < len(code):
            depth += {"<": 1, ">": -1}.get(code[index], 0) if code[index - 1 : index + 1] != "->" else 0
            index += 1
            if depth == 0:
                break
    while index < len(code) and code[index] in " \n":
        index += 1
    return index


def _parameters(text):
    """The labels of a parameter list; commas inside brackets, closures and generic arguments are skipped."""
    parts, depth, start = [], 0, 0
    for index, sign in enumerate(text):
        if sign in "([{" or (sign == "<" and index and text[index - 1].isalnum()):
            depth += 1
        elif sign in ")]}" or (sign == ">" and text[index - 1] not in "-=" and depth):
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    labels = [re.sub(r"^(?:@\w+(?:\([^)]*\))?\s+)+", "", part.strip()) for part in parts if part.strip()]
    return [re.split(r"[\s:]", label, maxsplit=1)[0] for label in labels]


def _body(code, index):
    """The offset of the opening brace, or None if the declaration has no body."""
    while index < len(code):
        if code[index] == "{":
            return index
        if code[index] in "([":
            index = swift_source.matching(code, index)
        elif code[index] == "}":
            return None
        elif code[index] == "\n" and _NEXT.match(code, index + 1):
            return None
        index += 1
    return None


def check(files, exemptions):
    """Violations and the report for {path: text}; `exemptions` is [(kind, target, reason)]."""
    problems, lengths = [], []
    unused = {(kind, target) for kind, target, _ in exemptions}
    for kind, target, reason in exemptions:
        if not reason:
            problems.append(f"size-exemptions.txt: {kind} {target}: the reason is missing")

    def exempt(kind, target):
        unused.discard((kind, target))
        return any(it[:2] == (kind, target) for it in exemptions)

    for path, text in sorted(files.items()):
        length = text.count("\n")
        if path.startswith("Sources/"):
            lengths.append(length)
        limit = TEST_FILE if "Tests/" in path else FILE
        if length > limit and exempt("state-machine", path):
            limit = STATE_MACHINE
        if length > limit:
            problems.append(f"{path}: {length} lines, {limit} are allowed")
        for function in functions(text):
            where = f"{path}:{function.line}: {function.name}"
            target = f"{path}#{function.name}"
            if function.lines > FUNCTION_LINES and not exempt("lines", target):
                problems.append(f"{where} has {function.lines} lines, {FUNCTION_LINES} are allowed")
            if function.parameters > PARAMETERS and not exempt("parameters", target):
                problems.append(f"{where} has {function.parameters} parameters, {PARAMETERS} are allowed")

    problems += [f"size-exemptions.txt: {kind} {target} is not needed" for kind, target in sorted(unused)]
    lengths.sort()
    decile = lengths[max(0, -(-9 * len(lengths) // 10) - 1)] if lengths else 0
    if decile > NINTH_DECILE:
        problems.append(f"nine of ten files of Sources/ have up to {decile} lines, {NINTH_DECILE} are allowed")
    median = lengths[len(lengths) // 2] if lengths else 0
    longest = lengths[-1] if lengths else 0
    return problems, f"Sources/: {len(lengths)} files, median {median} lines, p90 {decile}, longest {longest}"


def main():
    exemptions = []
    for kind, rest in swift_source.entries("scripts/size-exemptions.txt"):
        target, _, reason = rest.partition(" -- ")
        exemptions.append((kind, target.strip(), reason.strip()))
    files = {path: swift_source.read(path) for path in swift_source.swift_files(*ROOTS)}
    problems, report = check(files, exemptions)
    print(report)
    print("\n".join(problems), end="\n" if problems else "", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
