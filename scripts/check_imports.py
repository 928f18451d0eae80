#!/usr/bin/env python3
"""Import rules: each target imports only the modules that its row allows.

The table below lists the modules that each target may import. Modules that only some platforms have are imported
inside a matching `#if canImport(...)`, so that the sources compile everywhere. Targets of this package share
declarations and imports with the access level `package`; `@testable` and `@_spi` are not used in Sources/, and
`@_exported` only as a second table allows. Tests use Swift Testing, not XCTest. A target without a row fails, and so
does a row without a target.
"""

import os
import re
import sys

import swift_source

FOUNDATION = {"FoundationEssentials", "Foundation"}
LIBC = {"Darwin", "Glibc", "Musl"}
NIO = {"NIOCore", "NIOPosix", "NIOSSL"}

ALLOWED = {
    "ApusJSON": {"Synchronization"} | FOUNDATION,
    "ApusMacros": {"ApusJSON"},
    "ApusMacrosPlugin": {"SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftDiagnostics", "SwiftParser",
                         "SwiftCompilerPlugin"},
    "ApusCore": {"ApusJSON", "HTTPTypes", "Synchronization"} | FOUNDATION,
    "ApusMiddleware": {"ApusCore", "ApusFiles", "HTTPTypes", "Logging", "Synchronization", "Dispatch", "Network"} | FOUNDATION,
    "ApusFiles": LIBC,
    "ApusCredentials": {"ApusCore", "ApusFiles", "ApusMiddleware", "HTTPTypes", "CApusKeyring", "Crypto", "Security",
                        "Synchronization"} | FOUNDATION | LIBC,
    "ApusTransfers": {"ApusCore", "ApusFiles", "ApusMiddleware", "HTTPTypes", "Crypto", "CApusZlib", "Synchronization",
                      "Dispatch"} | FOUNDATION | LIBC,
    "ApusAWS": {"ApusCore", "ApusMiddleware", "ApusTransfers", "HTTPTypes", "CApusCRC", "Crypto", "Synchronization"}
               | FOUNDATION | LIBC,
    "ApusOAuth": {"ApusCore", "ApusJSON", "ApusMiddleware", "HTTPTypes", "Crypto", "CryptoExtras", "Synchronization",
                  "Dispatch", "AuthenticationServices"} | FOUNDATION | LIBC,
    "ApusURLSession": {"ApusCore", "HTTPTypes", "Synchronization", "Dispatch", "FoundationNetworking", "Security",
                       "CryptoKit", "Network"} | FOUNDATION,
    "ApusNIO": {"ApusCore", "HTTPTypes", "Synchronization", "CApusZlib", "ServiceLifecycle", "NIOTLS"} | FOUNDATION | NIO
               | LIBC,
    "Apus": {"ApusCore", "ApusMiddleware", "ApusURLSession", "ApusNIO", "HTTPTypes", "Logging", "Observation",
             "Synchronization"} | FOUNDATION,
    "ApusWaiting": {"Synchronization"},
    "ApusTesting": {"ApusCore", "ApusWaiting", "HTTPTypes", "Synchronization"} | FOUNDATION,
    "ApusTestServer": {"ApusWaiting", "HTTPTypes", "NIOHTTP1", "Synchronization"} | FOUNDATION | NIO | LIBC,
}
# The modules that a target re-exports to its importers.
REEXPORTED = {"Apus": {"ApusCore", "ApusMiddleware", "HTTPTypes"}, "ApusCore": {"ApusJSON"},
              "ApusMacros": {"ApusJSON"}, "ApusTesting": {"ApusWaiting"}, "ApusTestServer": {"ApusWaiting"}}
# Modules that not every platform has: their imports must be inside `#if canImport`.
GUARDED = {"FoundationEssentials", "FoundationNetworking", "Security", "Network", "AuthenticationServices"} | LIBC
# Targets that must stay small: the full Foundation only where FoundationEssentials does not exist.
ESSENTIALS_ONLY = {"ApusJSON", "ApusCore", "ApusMiddleware"}
# Targets whose core does without Foundation: only files with these names import it.
FOUNDATION_FILES = {"ApusJSON": re.compile(r"Foundation|JSONCoding|ISO8601")}

_IMPORT = re.compile(
    r"^\s*(?P<words>(?:@\w+(?:\([^)]*\))?\s+|(?:public|package|internal|fileprivate|private)\s+)*)import\s+"
    r"(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(?P<module>\w+)")


def imports(text):
    """[(line, attributes and access, module, enclosing conditions)]; a condition reads `canImport(X)` or `!(...)`."""
    found, conditions = [], []
    for number, line in enumerate(swift_source.code(text).splitlines(), 1):
        directive = re.match(r"\s*#(if|elseif|else|endif)\b\s*(.*)", line)
        if directive:
            word, condition = directive.group(1), directive.group(2).strip()
            if word == "if":
                conditions.append([condition])
            elif word == "endif" and conditions:
                conditions.pop()
            elif conditions:
                earlier = [it if it.startswith("!(") else f"!({it})" for it in conditions[-1]]
                conditions[-1] = earlier + ([condition] if word == "elseif" else [])
        elif (match := _IMPORT.match(line)) is not None:
            found.append((number, match.group("words").split(), match.group("module"), sum(conditions, [])))
    return found


def _holding(conditions):
    return " ".join(it for it in conditions if not it.startswith("!"))


def check(path, text):
    target = path.split("/")[1]
    allowed = ALLOWED.get(target)
    if allowed is None:
        return [f"{path}: check_imports.py has no row for {target}"]
    problems = []
    for line, words, module, conditions in imports(text):
        if module not in allowed:
            problems.append((line, f"{target} may not import {module}"))
        bridge = FOUNDATION_FILES.get(target)
        if bridge and module in FOUNDATION and not bridge.search(os.path.basename(path)):
            problems.append((line, f"{target} imports {module} only in files named {bridge.pattern}"))
        if module in GUARDED and f"canImport({module})" not in _holding(conditions):
            problems.append((line, f"import {module} belongs inside `#if canImport({module})`"))
        without = [it for it in conditions if it.replace(" ", "") in
                   ("!(canImport(FoundationEssentials))", "!canImport(FoundationEssentials)")]
        if module == "Foundation" and target in ESSENTIALS_ONLY and not without:
            problems.append((line, "import Foundation only in the `#else` of `#if canImport(FoundationEssentials)`"))
        for word in words:
            if word.startswith(("@testable", "@_spi", "@_implementationOnly")):
                problems.append((line, f"{word} import: targets use what is public or `package`"))
            if word == "@_exported" and module not in REEXPORTED.get(target, ()):
                problems.append((line, f"@_exported import: {target} does not re-export {module}"))
    code = swift_source.code(text)
    for match in re.finditer(r"@_spi\b", code):
        problems.append((swift_source.line_of(code, match.start()), "@_spi: what another target needs is `package`"))
    return [f"{path}:{line}: {what}" for line, what in sorted(set(problems))]


def check_test(path, text):
    return [f"{path}:{line}: tests use Swift Testing, not XCTest"
            for line, _, module, _ in imports(text) if module == "XCTest"]


def rows_without_target(targets):
    return [f"check_imports.py: {table} has a row for {row}, which is no target"
            for table, rows in (("ALLOWED", ALLOWED), ("REEXPORTED", REEXPORTED)) for row in rows if row not in targets]


def main():
    problems, count = rows_without_target(os.listdir("Sources")), 0
    for path in swift_source.swift_files("Sources"):
        problems += check(path, swift_source.read(path))
        count += 1
    for path in swift_source.swift_files("Tests", "Examples"):
        problems += check_test(path, swift_source.read(path))
    print("\n".join(problems) if problems else f"{count} files import what their targets may",
          file=sys.stderr if problems else sys.stdout)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
