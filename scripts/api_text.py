"""Renders the public API of one target from its symbol graphs as stable, sorted text.

    api_text.py TARGET FOLDER     (called by scripts/api)

One declaration a line, members indented below their type, all in alphabetical order: a change of the API changes few
lines, and the order of the sources does not matter.
"""

import glob
import json
import os
import sys

# Every type conforms to these unless its declaration suppresses it, as with `~Copyable`.
IMPLIED = {"Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"}


def render(target, graphs):
    symbols, parents, conformances, requirements = {}, {}, {}, set()
    for graph in graphs:
        for symbol in graph["symbols"]:
            symbols[symbol["identifier"]["precise"]] = symbol
    for graph in graphs:
        for relation in graph["relationships"]:
            source = relation["source"]
            if relation["kind"] in ("memberOf", "requirementOf", "optionalRequirementOf"):
                parents[source] = relation["target"]
            if relation["kind"] == "requirementOf":
                requirements.add(source)
            if relation["kind"] in ("conformsTo", "inheritsFrom"):
                entry = _conformance(relation, symbols)
                if entry is not None:
                    conformances.setdefault(source, set()).add(entry)

    children = {}
    for identifier in symbols:
        parent = parents.get(identifier)
        children.setdefault(parent if parent in symbols else None, []).append(identifier)

    lines = ["// The public API of " + target + ". Written by `make api`; do not edit.", ""]

    def write(identifier, depth):
        symbol = symbols[identifier]
        owner = symbols.get(parents.get(identifier))
        lines.append("  " * depth + _declaration(symbol, owner, identifier in requirements))
        for entry in sorted(conformances.get(identifier, ())):
            lines.append("  " * (depth + 1) + ": " + entry)
        for child in sorted(children.get(identifier, ()), key=lambda it: _order(symbols[it], it)):
            write(child, depth + 1)
        if depth == 0:
            lines.append("")

    for identifier in sorted(children.get(None, ()), key=lambda it: _order(symbols[it], it)):
        write(identifier, 0)
    return "\n".join(lines).rstrip("\n") + "\n"


def _order(symbol, identifier):
    return (symbol["pathComponents"], _text(symbol), identifier)


def _text(symbol):
    return " ".join("".join(part["spelling"] for part in symbol.get("declarationFragments", [])).split())


def _declaration(symbol, owner, required):
    kind = symbol["kind"]["identifier"]
    words = ["open" if symbol["accessLevel"] == "open" else "public"]
    if kind in ("swift.extension", "swift.enum.case"):
        words = []
    if required:
        words = ["requirement"]
    if any(it.get("isUnconditionallyDeprecated") or it.get("deprecated") for it in symbol.get("availability", [])):
        words.insert(0, "deprecated")
    extension = symbol.get("swiftExtension", {})
    inside = owner is not None and owner["kind"]["identifier"] == "swift.extension"
    condition = "" if inside or kind == "swift.extension" else _where(extension.get("constraints", []), owner)
    return " ".join(words + [_text(symbol)]) + condition


def _where(constraints, owner):
    """The constraints of an extension beyond those of its type."""
    signs = {"conformance": ":", "superclass": ":", "sameType": "=="}

    def written(them):
        return {f"{it['lhs']} {signs.get(it['kind'], it['kind'])} {it['rhs']}" for it in them
                if it["rhs"] not in IMPLIED}

    known = written((owner or {}).get("swiftGenerics", {}).get("constraints", []))
    extra = written(constraints) - known
    return "  [where " + ", ".join(sorted(extra)) + "]" if extra else ""


def _conformance(relation, symbols):
    known = symbols.get(relation["target"])
    name = ".".join(known["pathComponents"]) if known else relation.get("targetFallback") or relation["target"]
    name = name.removeprefix("Swift.")
    if name in IMPLIED:
        return None
    return name + _where(relation.get("swiftConstraints", []), symbols.get(relation["source"]))


def graphs_of(target, folder):
    """The target's own graph and its extensions of other modules' types, without what it re-exports."""
    graphs = []
    for path in sorted(glob.glob(os.path.join(folder, "*.symbols.json"))):
        with open(path, encoding="utf-8") as file:
            graph = json.load(file)
        own = [it for it in graph["symbols"] if _defined_in(target, it)]
        kept = {it["identifier"]["precise"] for it in own}
        graph["symbols"] = own
        graph["relationships"] = [it for it in graph["relationships"] if it["source"] in kept]
        graphs.append(graph)
    return graphs


def _defined_in(target, symbol):
    uri = symbol.get("location", {}).get("uri", "")
    if uri:
        return f"/Sources/{target}/" in uri
    return f"{len(target)}{target}" in symbol["identifier"]["precise"]


if __name__ == "__main__":
    sys.stdout.write(render(sys.argv[1], graphs_of(sys.argv[1], sys.argv[2])))
