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

    def test_a_target_uses_what_is_public_or_package_in_another(self):
        path = "Sources/ApusMiddleware/A.swift"
        for words in ("public", "package", "internal"):
            self.assertEqual(self.problems(f"{words} import ApusCore\nimport Logging", path), [], words)
        for words in ("@testable", "@_spi(Inner)", "@_implementationOnly"):
            self.assertTrue(self.problems(f"{words} import ApusCore", path), words)

    def test_declarations_may_be_for_the_package_alone(self):
        for text in ("package func f() {}", "package struct A {}", "public package(set) var a = 1", "let package = 1"):
            self.assertEqual(self.problems(text), [], text)
        self.assertIn("@_spi", "".join(self.problems("@_spi(Inner) public func f() {}")))

    def test_a_package_import_needs_its_row_too(self):
        self.assertIn("may not import ApusMiddleware", "".join(self.problems("package import ApusMiddleware")))

    def test_reexports_are_those_of_the_table(self):
        self.assertTrue(self.problems("@_exported import HTTPTypes"))
        self.assertTrue(self.problems("@_exported public import ApusJSON", "Sources/ApusMiddleware/A.swift"))
        self.assertEqual(self.problems("@_exported public import ApusJSON"), [])
        self.assertEqual(self.problems("@_exported public import ApusCore", "Sources/Apus/A.swift"), [])

    def test_json_imports_foundation_only_in_its_bridge(self):
        for module in ("HTTPTypes", "ApusCore", "Dispatch"):
            self.assertTrue(self.problems(f"import {module}", "Sources/ApusJSON/A.swift"), module)
        self.assertTrue(self.problems(GUARDED, "Sources/ApusJSON/Tape/JSONTape.swift"))
        for name in ("JSONCoding", "JSONOutput+Foundation", "ISO8601"):
            self.assertEqual(self.problems(GUARDED, f"Sources/ApusJSON/X/{name}.swift"), [], name)

    def test_a_target_without_a_row_is_found(self):
        self.assertIn("no row", "".join(self.problems("", "Sources/ApusNew/A.swift")))

    def test_a_row_without_a_target_is_found(self):
        self.assertEqual(check_imports.rows_without_target(check_imports.ALLOWED), [])
        present = check_imports.ALLOWED.keys() - {"Apus"}
        self.assertEqual(len(check_imports.rows_without_target(present)), 2)

    def test_comments_and_strings_import_nothing(self):
        self.assertEqual(self.problems('// import Logging\nlet a = """\nimport Logging\n"""'), [])

    def test_tests_do_not_use_xctest(self):
        self.assertTrue(check_imports.check_test("Tests/A.swift", "import XCTest"))
        self.assertEqual(check_imports.check_test("Tests/A.swift", "import Testing"), [])
