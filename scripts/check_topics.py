#!/usr/bin/env python3
"""Topic groups: the documentation lists every public type, so that readers find it.

The types are the top-level structures, classes, enumerations and protocols in api/; a target's catalog
(Sources/<target>/<target>.docc) or that of Apus lists them as ``Name`` below a heading of "## Topics".
"""

import glob
import os
import re
import sys

_TYPE = re.compile(r"^public (?:(?:final|indirect|@\w+) )*(?:struct|class|enum|protocol|actor) (\w+)", re.M)


def listed(pages):
    """The names in the topic groups of some pages."""
    return {name for page in pages for part in page.split("\n## Topics\n")[1:]
            for name in re.findall(r"^- ``(?:\w+/)?(\w+)``$", part, re.M)}


def problems(apis, catalogs):
    """What is missing, a line each. `apis` is {target: API text}, `catalogs` {target: [page]}."""
    # The umbrella documents what it re-exports.
    shared = listed(catalogs.get("Apus", []))
    return [f"{target}: no topic group lists {name}"
            for target in sorted(apis) for name in _TYPE.findall(apis[target])
            if name not in shared | listed(catalogs.get(target, []))]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    apis = {os.path.splitext(os.path.basename(path))[0]: read(path) for path in glob.glob("api/*.txt")}
    catalogs = {target: [read(path) for path in glob.glob(f"Sources/{target}/{target}.docc/**/*.md", recursive=True)]
                for target in apis}
    found = problems(apis, catalogs)
    print("\n".join(found) if found else f"topic groups list the types of {len(apis)} targets")
    return 1 if found or not apis else 0


if __name__ == "__main__":
    sys.exit(main())
