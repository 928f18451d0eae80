"""The folders of a target and the arrows between them, read from its Swift sources.

An arrow A → B means that a file of folder A mentions a top-level type that is declared in folder B. Files beside the
folders belong to the folder `.`. An extension that only declares nested types uses the extended type as a name, no more:
it is no mention of that type, and `Outer.Nested` is a mention of the folder of the extension. Names in comments and in the text of strings do not count; names in the code of
interpolations do. The script reads names, not scopes: a nested type or a generic parameter with the name of a top-level
type counts as a mention of that type, so such names should differ. Names in conditions (`#if`) do not count.
"""

import collections
import os
import re

import swift_source

# Modifiers and attributes before a declaration; `@available(…)` and the like have their arguments blanked or plain.
_TYPE = re.compile(
    r"(?<![\w.`])(?P<before>(?:(?:@\w+(?:\([^()\n]*\))?|public|package|internal|private|fileprivate|open|final|indirect"
    r"|distributed|nonisolated(?:\(unsafe\))?)\s+)*)(?:struct|class|enum|protocol|actor|typealias)\s+`?(?P<name>\w+)")
_MENTION = re.compile(r"(?<![\w.])[A-Z]\w*")
_EXTENSION = re.compile(r"(?<![\w.])extension\s+(?P<name>[A-Z]\w*)\s*\{")
_MEMBER = re.compile(r"(?<![\w.`])(?:func|var|let|init|subscript|deinit|typealias)\b")
# Traits have names like types.
_CONDITION = re.compile(r"^[ \t]*#(?:if|elseif)\b.*$", re.MULTILINE)


class Graph:
    """The arrows of one target: `arrows[A][B]` is {path of a file in A: the types of B it mentions}."""

    def __init__(self, folders, arrows):
        self.folders, self.arrows = folders, arrows

    def leads(self, start, end):
        return end in self.arrows.get(start, {})

    def mutual(self):
        """The pairs of folders that depend on each other, sorted."""
        return [(a, b) for a in self.folders for b in self.folders if a < b and self.leads(a, b) and self.leads(b, a)]

    def cycles(self):
        """The groups of folders that can all reach each other, each sorted."""
        reached = {folder: self._reached(folder) for folder in self.folders}
        groups = {tuple(sorted(it for it in reached[folder] if folder in reached[it]))
                  for folder in self.folders if folder in reached[folder]}
        return [list(group) for group in sorted(groups)]

    def _reached(self, start):
        found, open_ends = set(), [start]
        while open_ends:
            for folder in self.arrows.get(open_ends.pop(), {}):
                if folder not in found:
                    found.add(folder)
                    open_ends.append(folder)
        return found

    def weakest(self, group):
        """The arrows to cut first: of each pair the direction with fewer files; without a pair, of all arrows."""
        inside = [(a, b) for a in group for b in group if a != b and self.leads(a, b)]
        pairs = [(a, b) for a, b in self.mutual() if a in group and b in group]
        if not pairs:
            return [min(inside, key=lambda it: (len(self.arrows[it[0]][it[1]]), it))]
        return [min([(a, b), (b, a)], key=lambda it: (len(self.arrows[it[0]][it[1]]), it)) for a, b in pairs]

    def layers(self):
        """The folders from the lowest layer up. Each depends only on lower layers and on the folders of its cycle."""
        groups = {folder: tuple(group) for group in self.cycles() for folder in group}
        heights = {}

        def height(group):
            if group not in heights:
                below = {groups.get(it, (it,)) for folder in group for it in self.arrows.get(folder, {})} - {group}
                heights[group] = 1 + max((height(it) for it in below), default=-1)
            return heights[group]

        rows = collections.defaultdict(list)
        for folder in self.folders:
            rows[height(groups.get(folder, (folder,)))].append(folder)
        return [rows[index] for index in sorted(rows)]

    def direct(self):
        """The arrows that are not implied by a longer path, and all arrows inside a cycle, sorted."""
        group = {folder: number for number, cycle in enumerate(self.cycles()) for folder in cycle}
        kept = []
        for a in self.folders:
            for b in self.arrows.get(a, {}):
                same = a in group and group[a] == group.get(b)
                # A longer path leads through another folder that is in neither end's cycle.
                others = [it for it in self.arrows[a] if it != b and not self._together(group, it, a)
                          and not self._together(group, it, b)]
                if same or not any(b in self._reached(it) for it in others):
                    kept.append((a, b))
        return sorted(kept)

    @staticmethod
    def _together(group, a, b):
        return a in group and group[a] == group.get(b)


def folder_of(path, root):
    parts = os.path.relpath(path, root).split(os.sep)
    return parts[0] if len(parts) > 1 else "."


def declared(code):
    """[(name of a top-level type, whether it yields to others of its name)]; `#if` blocks are read through."""
    found, depth, index = [], 0, 0
    for match in _TYPE.finditer(code):
        depth += code.count("{", index, match.start()) - code.count("}", index, match.start())
        index = match.start()
        words = match.group("before").split()
        if depth == 0:
            found.append((match.group("name"), "private" in words or "fileprivate" in words))
    return found


def _end(code, start):
    """The index behind the brace that closes the one at `start`."""
    depth = 0
    for index in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[index], 0)
        if depth == 0:
            return index + 1
    return len(code)


def namespaces(code):
    """({names such as `Outer.Nested` of nested types in extensions that declare nothing else}, the code without the
    headers of these extensions)."""
    found, kept, last = set(), [], 0
    for match in _EXTENSION.finditer(code):
        body = code[match.end():_end(code, match.end() - 1) - 1]
        names = [name for name, _ in declared(body)]
        outside, index = [], 0
        for opening in re.finditer(r"\{", body):
            if opening.start() >= index:
                outside.append(body[index:opening.start()])
                index = _end(body, opening.start())
        if names and not _MEMBER.search("".join(outside) + body[index:]):
            found |= {f"{match.group('name')}.{name}" for name in names}
            kept.append(code[last:match.start()])
            last = match.end()
    return found, "".join(kept) + code[last:]


def read(root, files=None):
    """The graph of a target's folder; `files` is {path: text}, read from disk when left out."""
    if files is None:
        files = {path: swift_source.read(path) for path in swift_source.swift_files(root)}
    codes = {path: _CONDITION.sub("", swift_source.code(text)) for path, text in files.items()}
    visible, yielding = collections.defaultdict(set), collections.defaultdict(set)
    nested = collections.defaultdict(set)
    for path, code in codes.items():
        for name, yields in declared(code):
            (yielding if yields else visible)[name].add(folder_of(path, root))
        names, codes[path] = namespaces(code)
        for name in names:
            nested[name].add(folder_of(path, root))
    # A name that several folders declare, for several platforms, belongs to each of them. The name of a private type
    # counts only if no other type has that name.
    homes = {name: folders for name, folders in yielding.items() if len(folders) == 1} | dict(visible)

    arrows = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    for path in sorted(codes):
        here, code = folder_of(path, root), codes[path]
        for name in sorted(nested):
            start = r"(?<![\w.])" + re.escape(name) + r"\b"
            if re.search(start, code):
                code = re.sub(start, "", code)
                for there in nested[name] - {here}:
                    arrows[here][there][path].append(name)
        for name in sorted(set(_MENTION.findall(code))):
            if here in homes.get(name, {here}):
                continue
            for there in homes[name]:
                arrows[here][there][path].append(name)
    return Graph(sorted({folder_of(path, root) for path in codes}), arrows)
