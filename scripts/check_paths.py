#!/usr/bin/env python3
"""Paths in the documentation: each file or folder of the repository that a page names exists.

The check reads README.md, CONTRIBUTING.md, docs/ and the pages of the documentation catalogs. A path is a word in
backticks with a slash whose first part is a folder at the top of the repository, such as `Sources/ApusCore` in
`ls Sources/ApusCore`; `*` and `<name>` in a path match any name. The target of a link is a path too, relative to its
page. Code blocks and symbol links (double backticks) are not read.
"""

import glob
import os
import re
import sys

import swift_source

_BLOCK = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,}).*?^ *(?P=fence)[`~]*\s*?$", re.S | re.M)
_CODE = re.compile(r"(?<!`)`(?P<code>[^`]+)`(?!`)")
_LINK = re.compile(r"\]\((?P<link>[^)\s]+)[^)]*\)")
# `path:12`, and punctuation at the end of a word.
_AFTER = re.compile(r"(?::\d+(?:-\d+)?)?[,;.:)]*$")


def documents():
    pages = [path for path in ("README.md", "CONTRIBUTING.md") if os.path.exists(path)]
    pages += glob.glob("docs/**/*.md", recursive=True) + glob.glob("Sources/**/*.docc/**/*.md", recursive=True)
    return sorted(pages)


def top_folders():
    """The folders whose paths are checked, without build products."""
    return {name for name in os.listdir(".") if os.path.isdir(name)
            and (name in (".ci", ".github") or not name.startswith(".")) and name != "docs-out"}


def exists(path):
    pattern = re.sub(r"<[^>]*>", "*", path)
    return bool(glob.glob(pattern)) if "*" in pattern else os.path.exists(path)


def check(page, text, folders, exists=exists):
    """Violations in one page."""
    text = _BLOCK.sub(lambda it: re.sub(r"[^\n]", " ", it.group()), text)
    problems = []

    def report(offset, path):
        problems.append((swift_source.line_of(text, offset), path))

    for match in _CODE.finditer(text):
        if "\n\n" in match["code"]:
            continue
        for word in re.finditer(r"\S+", match["code"]):
            path = _AFTER.sub("", word.group())
            if "/" in path and path.split("/")[0] in folders and not exists(path):
                report(match.start("code") + word.start(), path)
    for match in _LINK.finditer(_CODE.sub(lambda it: " " * len(it.group()), text)):
        path = match["link"].split("#")[0].strip("<>")
        if path and not re.match(r"[a-z][a-z+.-]*:", path) and not exists(os.path.join(os.path.dirname(page), path)):
            report(match.start(), path)
    return [f"{page}:{line}: there is no {path}" for line, path in sorted(set(problems))]


def main():
    pages, folders = documents(), top_folders()
    problems = [problem for page in pages for problem in check(page, swift_source.read(page), folders)]
    print("\n".join(problems) if problems else f"the paths that {len(pages)} pages name exist",
          file=sys.stderr if problems else sys.stdout)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
