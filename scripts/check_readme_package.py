#!/usr/bin/env python3
"""The lines of README.md for a user's manifest, built as a user's package.

    check_readme_package.py [README] [--work FOLDER]

The check reads the ```swift blocks after the marker `<!-- sample: none manifest -->`. Each `.package(url: …)` of a
block whose address ends in `apus` becomes one small package: with the address replaced by the path of a clone of this
repository, with the block's other dependencies, and with a program that imports the products that the block names, or
`Apus`. Version, traits and names are not changed, so SwiftPM resolves them as it does for a user; the clone has a tag
or branch of the required name. The clone contains the committed files.

Each package is built twice, as a user builds it, with a new file in between, so that SwiftPM plans the build again. If
it then passes the traits of Apus to the compiler in another order, as it does with several default traits, everything
is compiled again: a second build that compiles more than the program fails. The check also builds one small module
several times with TRAIT switched on, and prints how often it was compiled again.

Packages are built in .build-readme, or in FOLDER. With APUS_SCRATCH they share the package's own build folder, so
that dependencies are not compiled again.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

import swift_source

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MARKER = "<!-- sample: none manifest -->"
_BLOCK = re.compile(re.escape(MARKER) + r"\s*\n(?P<indent> *)```swift\n(?P<code>.*?)^ *```\s*$", re.S | re.M)
_ADDRESS = re.compile(r'url:\s*"(?P<address>[^"]+)"')
_VERSION = re.compile(r'"(\d+\.\d+\.\d+[^"]*)"')
# A step that compiles anything but the program.
_COMPILED = re.compile(r"^\[\d+/\d+\] (?:Compiling|Emitting module) (?!user\b).*", re.M)
# A step that compiles the program. Without such a step the output has another form, and says nothing.
_PROGRAM = re.compile(r"^\[\d+/\d+\] (?:Compiling|Emitting module) user\b", re.M)
# The trait that is switched on besides the default one, the small module, and how often it is built.
TRAIT, MODULE, BUILDS = "ServiceLifecycle", "ApusJSON", 5
_BRANCH = re.compile(r'branch:\s*"([^"]+)"')


class Problem(Exception):
    pass


class Variant:
    """One package to build: its dependencies, with only the address replaced, and its products."""

    def __init__(self, dependencies, products, version, branch):
        self.dependencies, self.products, self.version, self.branch = dependencies, products, version, branch

    def manifest(self):
        lines = ["// swift-tools-version: 6.2", "import PackageDescription", "", "let package = Package(",
                 '  name: "user",', "  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],",
                 "  dependencies: ["]
        lines += [f"    {it}," for it in self.dependencies]
        lines += ["  ],", "  targets: [", "    .executableTarget(", '      name: "user",', "      dependencies: ["]
        lines += [f"        {it}," for _, it in self.products]
        return "\n".join(lines + ["      ])", "  ]", ")"]) + "\n"

    def program(self):
        return "".join(f"import {name}\n" for name, _ in self.products) + '\nprint("built")\n'


def calls(code, name):
    """The calls `.name(…)` in a text, comments and strings aside, as they are written on one line."""
    blank = swift_source.code(code)
    return [" ".join(code[it.start() : swift_source.matching(blank, it.end() - 1) + 1].split())
            for it in re.finditer(rf"(?<![\w)]){re.escape(name)}\(", blank)]


def variants(text, clone):
    """The packages that a README describes; `clone` is the path that takes the place of the address."""
    found = []
    for block in _BLOCK.finditer(text):
        packages = calls(block["code"], ".package")
        products = [(re.search(r'name:\s*"(\w+)"', it), it) for it in calls(block["code"], ".product")]
        products = [(name.group(1), it) for name, it in products if name]
        own = [it for it in packages if _is_ours(it)]
        for package in own:
            version, branch = _VERSION.search(package), _BRANCH.search(package)
            if not version and not branch:
                raise Problem(f"{package}: requires neither a version nor a branch")
            replaced = _ADDRESS.sub(lambda _: f'url: "{clone}"', package)
            others = [it for it in packages if it not in own]
            found.append(Variant(
                [replaced, *others], products or [("Apus", '.product(name: "Apus", package: "apus")')],
                version.group(1) if version else None, branch.group(1) if branch else None))
    return found


def _is_ours(package):
    address = _ADDRESS.search(package)
    return bool(address) and re.sub(r"\.git$", "", address["address"].rstrip("/")).split("/")[-1] == "apus"


def run(*command, **other):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **other)
    if done.returncode != 0:
        raise Problem(f"{' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


def make_clone(path, wanted):
    """A clone of this repository's last commit, with the tags and branches that the packages require."""
    run("git", "clone", "--quiet", "--shared", ROOT, path)
    for variant in wanted:
        if variant.version:
            run("git", "-C", path, "tag", "--force", variant.version)
        if variant.branch:
            run("git", "-C", path, "checkout", "--quiet", "-B", variant.branch)


def write(variant, folder):
    shutil.rmtree(os.path.join(folder, "Sources"), ignore_errors=True)
    os.makedirs(os.path.join(folder, "Sources", "user"))
    for name, text in (("Package.swift", variant.manifest()), ("Sources/user/main.swift", variant.program())):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    # The versions of dependencies that the package itself is built with; the clone's own version is not among them.
    pins = os.path.join(ROOT, "Package.resolved")
    if os.path.exists(pins):
        shutil.copy(pins, folder)


def build(folder, *other):
    """Builds a package with a plain `swift build`; returns its output."""
    shared = []
    if "APUS_SCRATCH" in os.environ:
        # Without the flag SwiftPM takes the plan of the package that was built in the folder last.
        shared = ["--scratch-path", os.path.join(ROOT, os.environ["APUS_SCRATCH"]), "--disable-build-manifest-caching",
                  *os.environ.get("APUS_BUILD_FLAGS", "").split()]
    # Users do not have the variable with which the scripts make the order of the traits constant.
    environment = {name: value for name, value in os.environ.items() if name != "SWIFT_DETERMINISTIC_HASHING"}
    return run("swift", "build", "--package-path", folder, *shared, *other, env=environment)


def add_file(folder, number):
    with open(os.path.join(folder, "Sources", "user", f"Added{number}.swift"), "w", encoding="utf-8") as file:
        file.write(f"let added{number} = {number}\n")


def check_second_build(folder):
    add_file(folder, 1)
    output = build(folder)
    if not _PROGRAM.search(output):
        raise Problem("the output of a second `swift build` does not show that it compiled the program:\n" + output)
    compiled = _COMPILED.findall(output)
    if compiled:
        raise Problem("a second `swift build` compiled more than the program:\n" + "\n".join(compiled[:10]))


def builds_with_another_trait(variant, folder):
    """How many of several builds of MODULE compiled it, after the first, when TRAIT is on besides the defaults."""
    dependency = re.sub(r"\s*\)$", f', traits: [.defaults, "{TRAIT}"])', variant.dependencies[0])
    write(Variant([dependency, *variant.dependencies[1:]], variant.products, variant.version, variant.branch), folder)
    compiled = []
    for number in range(BUILDS):
        add_file(folder, number)
        compiled.append(_COMPILED.findall(build(folder, "--target", MODULE)))
    return sum(1 for it in compiled[1:] if it)


def main():
    parser = argparse.ArgumentParser(description="Builds the packages that a README describes.")
    parser.add_argument("readme", nargs="?", default=os.path.join(ROOT, "README.md"))
    parser.add_argument("--work", default=os.path.join(ROOT, ".build-readme"))
    arguments = parser.parse_args()
    try:
        # SwiftPM names a package after the last part of its address, and fetches an address and version only once, so
        # each commit has its own address.
        commit = run("git", "-C", ROOT, "rev-parse", "--short", "HEAD").strip()
        clones = os.path.join(os.path.abspath(arguments.work), "clones")
        clone = os.path.join(clones, commit, "apus")
        wanted = variants(swift_source.read(arguments.readme), clone)
        if not wanted:
            raise Problem(f"no ```swift block after {MARKER} has a .package(url:) whose address ends in apus")
        shutil.rmtree(clones, ignore_errors=True)
        make_clone(clone, wanted)
        for number, variant in enumerate(wanted, 1):
            folder = os.path.join(os.path.abspath(arguments.work), str(number))
            write(variant, folder)
            build(folder)
            check_second_build(folder)
            products = ", ".join(name for name, _ in variant.products)
            print(f"{variant.dependencies[0]}: builds a program with {products}; a second build compiles nothing else")
        if "traits:" not in wanted[0].dependencies[0]:
            again = builds_with_another_trait(wanted[0], os.path.join(os.path.abspath(arguments.work), "traits"))
            print(f"with the trait {TRAIT} on, {again} of {BUILDS - 1} builds compiled {MODULE} again")
    except (Problem, OSError) as problem:
        print(f"{os.path.relpath(arguments.readme)}: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
