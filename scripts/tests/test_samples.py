import os
import unittest

import samples

from . import stand_ins

PREAMBLE = "import Apus\n\nstruct User {}\n\nlet api = Client()\n"


def document(marker, code, fence="```"):
    return f"# Title\n\n{marker}\n{fence}swift\n{code}\n{fence}\n"


class Samples(unittest.TestCase):
    def files(self, text, name="README.md", preamble=PREAMBLE):
        folders = samples.generate_all({name: text}, {"all": preamble, "ApusCore": "let core = 1"})[0]
        return {name: text for files in folders.values() for name, text in files.items()}

    def only(self, code, marker="<!-- sample: one -->", preamble=PREAMBLE):
        return self.files(document(marker, code), preamble=preamble)["README-one.swift"]

    def test_a_block_without_a_marker_is_found(self):
        with self.assertRaisesRegex(samples.Problem, "README.md:4: .*without a marker"):
            self.files(document("Some text.", "a()"))

    def test_two_samples_of_one_name_are_found(self):
        with self.assertRaisesRegex(samples.Problem, "second sample"):
            self.files(document("<!-- sample: one -->", "a()") * 2)

    def test_an_unknown_option_is_found(self):
        with self.assertRaisesRegex(samples.Problem, "does not know 'flie'"):
            self.files(document("<!-- sample: one flie -->", "a()"))

    def test_a_block_can_be_excluded_with_a_reason(self):
        self.assertEqual(self.files(document("<!-- sample: none it must not compile -->", "a()")), {})
        with self.assertRaisesRegex(samples.Problem, "reason"):
            self.files(document("<!-- sample: none -->", "a()"))

    def test_other_languages_need_no_marker(self):
        self.assertEqual(self.files("```sh\nmake test\n```\n"), {})

    def test_statements_go_into_a_function_and_declarations_to_the_file(self):
        text = self.only("import Apus\n\nextension A where B == C {\n  var d: D { 1 }\n}\n\n@MainActor\n"
                         "final class M {\n  func f() {}\n}\nlet a = f(\n  1\n)\nif a {\n} else {\n}")
        self.assertIn("\nprivate extension A where B == C {\n", text)
        self.assertIn("\n@MainActor\nprivate final class M {\n", text)
        self.assertIn("async throws {\n  let a = f(\n    1\n  )\n  if a {\n  } else {\n  }\n  _ = a\n}\n", text)
        self.assertEqual(text.count("import Apus"), 1)

    def test_extensions_that_conform_cannot_be_private(self):
        self.assertIn("\nextension A: B {", self.only("extension A: B {\n}"))
        self.assertIn("\npublic struct A {", self.only("public struct A {\n}"))

    def test_declarations_of_a_sample_replace_those_of_the_preamble(self):
        self.assertIn("private struct User {}", self.only("a()"))
        text = self.only("struct User { let a = 1 }")
        self.assertNotIn("struct User {}", text)
        self.assertIn("private let api", text)

    def test_extension_members_of_a_sample_replace_those_of_the_preamble(self):
        preamble = PREAMBLE + "\nextension Endpoint where Self == R {\n  static var users: Self { 1 }\n}\n"
        self.assertIn("where Self == R", self.only("a()", preamble=preamble))
        code = "extension Endpoint where Self == S {\n  static var users: Self { 2 }\n}"
        self.assertNotIn("where Self == R", self.only(code, preamble=preamble))

    def test_unused_variables_are_used(self):
        text = self.only("let a = 1\nguard let b else { return }\nasync let c = f()")
        self.assertTrue(text.endswith("  _ = a\n  _ = b\n  _ = try await c\n}\n"))

    def test_modes(self):
        self.assertIn("\nprivate let a = 1", self.only("let a = 1", "<!-- sample: one file -->"))
        self.assertIn("{\n  func f() {}", self.only("func f() {}", "<!-- sample: one body -->"))
        self.assertIn("@MainActor\nprivate func sample()", self.only("f()", "<!-- sample: one main -->"))

    def test_a_sample_can_continue_another(self):
        text = document("<!-- sample: one -->", "let a = 1") + document("<!-- sample: two continues one -->", "f(a)")
        self.assertIn("{\n  let a = 1\n  f(a)\n", self.files(text)["README-two.swift"])
        with self.assertRaisesRegex(samples.Problem, "continues 'none-such'"):
            self.only("a()", "<!-- sample: one continues none-such -->")

    def test_a_list_of_values_is_typed(self):
        text = self.only('.get("/a")\n.get("/b",\n  c)', "<!-- sample: one as Request<Int> -->")
        self.assertIn('  let _: Request<Int> = .get("/a")\n  let _: Request<Int> = .get("/b",\n    c)\n', text)

    def test_a_target_has_its_own_preamble(self):
        text = "/// ```swift\n/// f()\n/// ```\n"
        self.assertIn("private let core", self.files(text, "Sources/ApusCore/A.swift")["ApusCore_A-1.swift"])
        self.assertNotIn("private let core", self.files(text, "Sources/ApusNIO/A.swift")["ApusNIO_A-1.swift"])

    def test_samples_of_the_macros_are_written_where_their_trait_is_on(self):
        text = "/// ```swift\n/// f()\n/// ```\n"
        documents = {"Sources/ApusMacros/A.swift": text, "Sources/ApusCore/A.swift": text}
        folders = samples.generate_all(documents, {"all": "import Apus\n"})[0]
        self.assertEqual(list(folders[samples.OUT]), ["ApusCore_A-1.swift"])
        self.assertNotIn("import Apus\n", folders[samples.OTHER_OUT["ApusMacros"]]["ApusMacros_A-1.swift"])

    def test_omitted_bodies_are_filled(self):
        self.assertIn("{ fatalError() }", self.only("struct A { var b: B { … } }"))

    def test_doc_comments_are_samples_without_a_marker(self):
        text = "/// A.\n///\n/// ```swift\n/// f()\n///   .g()\n/// ```\npublic struct A {}\n"
        files = self.files(text, "Sources/ApusCore/Client/A.swift")
        self.assertIn("  f()\n    .g()\n", files["ApusCore_Client_A-1.swift"])


class Guides(unittest.TestCase):
    NAME = "Sources/Apus/Apus.docc/First.md"

    def guide(self, *blocks, marker="", folder=samples.GUIDES_OUT):
        text = "".join(document(marker, block) for block in blocks)
        return samples.generate_all({self.NAME: text}, {"all": PREAMBLE})[0][folder].get("First.swift")

    def test_the_blocks_of_a_guide_are_one_program_without_a_preamble(self):
        text = self.guide("import Apus\n\nstruct A {}\n\nlet a = A()", "func f() {}\n\nextension A {}\nf(a)")
        self.assertIn("import Apus\n\nprivate struct A {}\n\nprivate extension A {}\n\n@MainActor\n", text)
        self.assertIn("guide() async throws {\n  let a = A()\n\n  func f() {}\n\n  f(a)\n  _ = a\n}\n", text)
        self.assertNotIn("struct User", text)

    def test_a_guide_about_tests_is_pasted_as_it_is(self):
        blocks = ("import Testing\n\n@Test func a() {}", "struct B {}")
        self.assertIsNone(self.guide(*blocks))
        text = self.guide(*blocks, folder=samples.TEST_GUIDES_OUT)
        self.assertIn("import Testing\n\n@Test func a() {}\n\nstruct B {}\n", text)

    def test_a_block_of_a_guide_can_be_excluded_with_a_reason(self):
        self.assertIsNone(self.guide("a()", marker="<!-- sample: none it must not compile -->"))


class Target(unittest.TestCase):
    OUTS = (samples.OUT, *samples.OTHER_OUT.values(), samples.GUIDES_OUT, samples.TEST_GUIDES_OUT)

    def test_the_target_has_a_source_file_before_samples_are_written(self):
        for out in self.OUTS:
            folder = os.path.join(stand_ins.ROOT, os.path.dirname(out))
            self.assertTrue([name for name in os.listdir(folder) if name.endswith(".swift")])

    def test_written_samples_are_ignored_by_git(self):
        with open(os.path.join(stand_ins.ROOT, ".gitignore"), encoding="utf-8") as file:
            ignored = file.read()
        for out in self.OUTS:
            self.assertIn(f"/{out}/\n", ignored)
