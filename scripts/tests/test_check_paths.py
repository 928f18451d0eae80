import os
import unittest

import check_paths

from . import stand_ins

PRESENT = {"Sources/Apus", "Sources/ApusCore/Client.swift", "scripts/test", "docs/scope.md", "docs/images/a.svg"}


class Paths(unittest.TestCase):
    def problems(self, text, page="README.md"):
        return check_paths.check(page, text, {"Sources", "scripts", "docs"},
                                 lambda path: os.path.normpath(path) in PRESENT)

    def test_paths_that_exist_pass(self):
        for text in ("`Sources/Apus`", "`Sources/Apus/`", "`scripts/test --all`", "`Sources/ApusCore/Client.swift:12`",
                     "`make test`", "`text/plain`", "`Client/send(_:)`", "plain Sources/None"):
            self.assertEqual(self.problems(text), [], text)

    def test_a_path_that_does_not_exist_is_found_with_its_line(self):
        self.assertEqual(self.problems("One.\n\nSee `Sources/None`."), ["README.md:3: there is no Sources/None"])
        for text in ("`scripts/none`", "run `scripts/none one two`", "`cat docs/none.md`", "`scripts/a\nSources/b`"):
            self.assertTrue(self.problems(text), text)

    def test_code_blocks_and_symbol_links_are_not_read(self):
        for text in ("```sh\nls Sources/None `Sources/None`\n```", "``Sources/None``",
                     "  ```swift\n  let a = `docs/none`\n  ```\n"):
            self.assertEqual(self.problems(text), [], text)
        self.assertTrue(self.problems("```sh\nls\n```\n`Sources/None`\n```sh\nls\n```"))

    def test_links_are_read_relative_to_their_page(self):
        self.assertEqual(self.problems("[a](docs/scope.md) [b](docs/scope.md#part) [c](https://example.com/x) [d](#e)"), [])
        self.assertEqual(self.problems("![a](images/a.svg) [s](../Sources/Apus)", "docs/page.md"), [])
        self.assertTrue(self.problems("[a](scope.md)"))
        self.assertTrue(self.problems("![a](images/b.svg)", "docs/page.md"))


class ThisRepository(unittest.TestCase):
    def test_wildcards_stand_for_any_name(self):
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(stand_ins.ROOT)
        self.assertTrue(check_paths.exists("scripts/check_*.py"))
        self.assertTrue(check_paths.exists("Sources/<target>"))
        self.assertFalse(check_paths.exists("scripts/<name>/none"))
