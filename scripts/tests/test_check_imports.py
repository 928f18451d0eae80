import unittest

import check_imports

GUARDED = """
#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
"""


class Imports(unittest.TestCase):
    def problems(self, text, path="Sources/ApusCore/A.swift"):
        return check_imports.check(path, text)

    def test_core_imports_what_its_row_says(self):
        self.assertEqual(self.problems("public import HTTPTypes\nimport Synchronization\n" + GUARDED), [])

    def test_core_imports_nothing_else(self):
        for module in ("Logging", "FoundationNetworking", "NIOCore", "Dispatch", "ApusMiddleware", "ApusTesting"):
            self.assertIn(f"may not import {module}", "".join(self.problems(f"internal import {module}")))
        self.assertTrue(self.problems("import struct Logging.Logger"))

    def test_core_needs_the_guard_around_foundation(self):
        self.assertTrue(self.problems("import Foundation"))
        self.assertTrue(self.problems("#if canImport(Foundation)\nimport Foundation\n#endif"))
        self.assertTrue(self.problems("import FoundationEssentials"))
        self.assertEqual(self.problems("#if !canImport(FoundationEssentials)\nimport Foundation\n#endif"), [])

    def test_a_module_of_one_platform_needs_its_guard(self):
        path = "Sources/ApusURLSession/A.swift"
        self.assertTrue(self.problems("import FoundationNetworking", path))
        self.assertTrue(self.problems("#if canImport(Network)\n#else\nimport Network\n#endif", path))
        self.assertEqual(self.problems("#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif", path), [])

    def test_middleware_sees_only_the_public_api_of_core(self):
        path = "Sources/ApusMiddleware/A.swift"
        self.assertEqual(self.problems("public import ApusCore\nimport Logging", path), [])
        for words in ("@testable", "@_spi(Inner)", "package"):
            self.assertTrue(self.problems(f"{words} import ApusCore", path), words)

    def test_nothing_is_declared_for_the_package_alone(self):
        self.assertTrue(self.problems("package func f() {}"))
        self.assertTrue(self.problems("@_spi(Inner) public func f() {}"))
        self.assertEqual(self.problems("let package = 1"), [])

    def test_reexports_are_those_of_the_table(self):
        self.assertTrue(self.problems("@_exported import HTTPTypes"))
        self.assertTrue(self.problems("@_exported public import ApusJSON", "Sources/ApusMiddleware/A.swift"))
        self.assertEqual(self.problems("@_exported public import ApusJSON"), [])
        self.assertEqual(self.problems("@_exported public import ApusCore", "Sources/Apus/A.swift"), [])

    def test_json_imports_nothing(self):
        for module in ("HTTPTypes", "ApusCore", "Synchronization"):
            self.assertTrue(self.problems(f"import {module}", "Sources/ApusJSON/A.swift"), module)

    def test_a_target_without_a_row_is_found(self):
        self.assertIn("no row", "".join(self.problems("", "Sources/ApusNew/A.swift")))

    def test_comments_and_strings_import_nothing(self):
        self.assertEqual(self.problems('// import Logging\nlet a = """\nimport Logging\n"""'), [])

    def test_tests_do_not_use_xctest(self):
        self.assertTrue(check_imports.check_test("Tests/A.swift", "import XCTest"))
        self.assertEqual(check_imports.check_test("Tests/A.swift", "import Testing"), [])
