#!/usr/bin/env python3
"""Availability: no name of the standard library that needs a system newer than iOS 18 or macOS 15.

The compiler does not check Apple availability on Linux, so a name that needs iOS 26 would go unnoticed until a build
with Xcode. This check searches for known names by spelling only: it can miss a name, and it can report another member
with the same name. A comment on the line suppresses such a report: `// available: <reason>`.

    check_availability.py              checks the sources
    check_availability.py --extract    lists the names that the toolchain's standard library introduced after that, from
                                       its symbol graphs; read the list when the toolchain changes, and extend NAMES
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import swift_source

ROOTS = ("Sources", "Examples")
FLOOR = (18, 0)
NAMES = [
    (r"\bInlineArray\b|\[\s*\d+\s+of\s+\w", "InlineArray: iOS 26"),
    (r"\bUTF8Span\b", "UTF8Span: iOS 26"),
    (r"\.(?:span|mutableSpan|utf8Span)\b", "Array.span, String.utf8Span and their like: iOS 26"),
    (r"\bTask\s*(?:<[^>]*>)?\s*\.\s*immediate(?:Detached)?\b|\baddImmediateTask\w*", "immediate tasks: iOS 26"),
    (r"\bTask\s*(?:<[^>]*>)?\s*(?:\.\s*detached\s*)?\(\s*name\s*:|\baddTask(?:UnlessCancelled)?\s*\(\s*name\s*:",
     "task names: iOS 26"),
    (r"\bTask\s*\.\s*name\b", "Task.name: iOS 26"),
    (r"\bObservations\b", "Observations: iOS 26"),
    (r"\bisIsolatingCurrentContext\b", "isIsolatingCurrentContext: iOS 26"),
    (r"\bwithTaskPriorityEscalationHandler\b|\bescalatePriority\b", "priority escalation: iOS 26"),
    (r"\bisSameExclusiveExecutionContext\b|\bisMainExecutor\b", "newer executor requirements: iOS 18.4 or later"),
    (r"\bString\s*\(\s*copying\s*:", "String(copying:): iOS 26"),
    (r"\bsystemEpoch\b", "Clock.systemEpoch: iOS 26"),
    (r"\bHTTPFormatStyle\b", "Date.HTTPFormatStyle: iOS 26"),
    (r"\bNetworkConnection\b|\bNetworkListener\b|\bNetworkBrowser\b", "structured Network.framework: iOS 26"),
]
MODULES = ("Swift", "_Concurrency", "Synchronization", "Observation", "_StringProcessing")


def check(path, text):
    code, lines = swift_source.code(text), text.splitlines()
    found = []
    for pattern, what in NAMES:
        for match in re.finditer(pattern, code):
            line = swift_source.line_of(code, match.start())
            if not re.search(r"//\s*available:\s*\S", lines[line - 1]):
                found.append((line, what))
    return [f"{path}:{line}: {what}" for line, what in sorted(set(found))]


def extract():
    swiftc = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True)
    target = json.loads(swiftc.stdout)
    library = target["paths"]["runtimeLibraryImportPaths"][0]
    names = set()
    with tempfile.TemporaryDirectory() as folder:
        for module in MODULES:
            subprocess.run(["swift-symbolgraph-extract", "-module-name", module, "-target", target["target"]["triple"],
                            "-I", library, "-output-dir", folder], check=False, stderr=subprocess.DEVNULL)
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                graph = json.load(file)
            names |= {(".".join(symbol["pathComponents"]), version)
                      for symbol in graph["symbols"] if (version := _introduced(symbol)) > FLOOR}
    for name, version in sorted(names):
        print(f"{name}  iOS {version[0]}.{version[1]}")


def _introduced(symbol):
    for entry in symbol.get("availability", []):
        if entry.get("domain") == "iOS" and "introduced" in entry:
            return (entry["introduced"]["major"], entry["introduced"].get("minor", 0))
    return (0, 0)


def main(arguments):
    if arguments == ["--extract"]:
        extract()
        return 0
    files = swift_source.swift_files(*ROOTS)
    problems = [problem for path in files for problem in check(path, swift_source.read(path))]
    print("\n".join(problems) if problems else f"{len(files)} files use no name newer than iOS 18 and macOS 15",
          file=sys.stderr if problems else sys.stdout)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
