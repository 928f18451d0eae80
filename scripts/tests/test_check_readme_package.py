import unittest

import check_readme_package
from check_readme_package import MARKER

from . import stand_ins

LINE = '.package(url: "https://example.com/owner/apus.git", from: "0.1.0")'
WHOLE = f"""dependencies: [
  {LINE},  // the whole of it
  .package(url: "https://github.com/apple/swift-log", from: "1.0.0"),
],
targets: [
  .target(name: "App", dependencies: [
    .product(name: "Apus", package: "apus"),
    .product(name: "ApusCredentials", package: "apus"),
  ])
]"""


def readme(*blocks, marker=MARKER):
    return "# Title\n" + "".join(f"\nText.\n\n{marker}\n```swift\n{block}\n```\n" for block in blocks)


class Variants(unittest.TestCase):
    def variants(self, text):
        return check_readme_package.variants(text, "/clone/apus")

    def test_only_the_address_is_replaced(self):
        variant, = self.variants(readme(WHOLE))
        self.assertEqual(variant.dependencies, [
            '.package(url: "/clone/apus", from: "0.1.0")',
            '.package(url: "https://github.com/apple/swift-log", from: "1.0.0")'])
        self.assertEqual([name for name, _ in variant.products], ["Apus", "ApusCredentials"])
        self.assertEqual((variant.version, variant.branch), ("0.1.0", None))
        self.assertIn('        .product(name: "ApusCredentials", package: "apus"),\n', variant.manifest())
        self.assertIn("import Apus\nimport ApusCredentials\n", variant.program())

    def test_each_line_and_each_block_makes_a_package(self):
        lean = '.package(\n  url: "https://example.com/owner/apus", branch: "main",\n  traits: ["NIO"])'
        found = self.variants(readme(LINE + "\n" + lean, lean))
        self.assertEqual(len(found), 3)
        self.assertEqual(found[1].dependencies, ['.package( url: "/clone/apus", branch: "main", traits: ["NIO"])'])
        self.assertEqual([it.branch for it in found], [None, "main", "main"])
        self.assertEqual([name for it in found for name, _ in it.products], ["Apus"] * 3)

    def test_other_blocks_and_comments_are_not_read(self):
        for text in (readme(WHOLE, marker="<!-- sample: one -->"), readme("// " + LINE), readme(WHOLE, marker="")):
            self.assertEqual(self.variants(text), [], text)

    def test_a_requirement_is_needed(self):
        with self.assertRaisesRegex(check_readme_package.Problem, "neither a version nor a branch"):
            self.variants(readme('.package(url: "https://example.com/apus")'))


class CheckReadmePackage(stand_ins.Scripts):
    def check(self, text, swift, **variables):
        self.program("swift", swift)
        with open(self.path("README.md"), "w", encoding="utf-8") as file:
            file.write(text)
        return self.run_script("scripts/check_readme_package.py", self.path("README.md"), "--work", self.path("work"),
                               **variables)

    def test_what_builds_passes(self):
        # The clone has the version that the line asks for.
        swift = f'test "$1 $2 $3" = "build --package-path {self.path("work", "1")}" || test "$4" = --target || exit 1\n' \
                'test -z "${SWIFT_DETERMINISTIC_HASHING:-}" || exit 1\n' \
                f'git -C {self.path("work", "clones")}/*/apus rev-parse --quiet --verify refs/tags/0.1.0\n' \
                "echo '[1/2] Compiling user main.swift'\n"
        status, output = self.check(readme(WHOLE), swift, SWIFT_DETERMINISTIC_HASHING="1")
        self.assertEqual(status, 0, output)
        self.assertIn("a second build compiles nothing else", output)
        self.assertIn("with the trait ServiceLifecycle on, 0 of 4 builds compiled ApusJSON again", output)
        self.assertIn("builds a program with Apus, ApusCredentials", output)

    def test_a_second_build_that_compiles_is_found(self):
        status, output = self.check(
            readme(WHOLE), "echo '[2/5] Compiling user main.swift'\necho '[3/5] Compiling ApusCore Client.swift'\n")
        self.assertEqual(status, 1)
        self.assertIn("a second `swift build` compiled more than the program:\n[3/5] Compiling ApusCore", output)

    def test_a_second_build_compiles_the_program_again(self):
        status, output = self.check(readme(WHOLE), "echo '[3/5] Compiling user main.swift'\n")
        self.assertEqual(status, 0, output)

    def test_a_build_whose_output_has_another_form_proves_nothing(self):
        status, output = self.check(readme(WHOLE), "echo 'compiled user'\n")
        self.assertEqual(status, 1)
        self.assertIn("does not show that it compiled the program:\ncompiled user", output)

    def test_builds_with_another_trait_that_compile_are_counted(self):
        swift = "test \"$4\" = --target || { echo '[1/2] Compiling user main.swift'; exit 0; }\n" \
                f"grep -q 'traits: \\[.defaults, \"ServiceLifecycle\"\\]' {self.path('work', 'traits', 'Package.swift')} || exit 1\n" \
                "echo '[1/2] Compiling ApusJSON Parser.swift'\n"
        status, output = self.check(readme(LINE), swift)
        self.assertEqual(status, 0, output)
        self.assertIn("with the trait ServiceLifecycle on, 4 of 4 builds compiled ApusJSON again", output)

    def test_what_does_not_build_is_found_with_what_swift_says(self):
        status, output = self.check(readme(WHOLE), "echo 'error: unknown package'\nexit 1\n")
        self.assertEqual(status, 1)
        self.assertIn("error: unknown package", output)

    def test_a_readme_without_such_lines_is_found(self):
        status, output = self.check(readme("let a = 1"), "exit 0\n")
        self.assertEqual(status, 1)
        self.assertIn("whose address ends in apus", output)
