import os
import unittest
import xml.etree.ElementTree
from importlib import machinery, util

import folder_drawing
import folder_graph

from . import stand_ins

LOADER = machinery.SourceFileLoader("folder_cycles", os.path.join(stand_ins.ROOT, "scripts", "folder-cycles"))
folder_cycles = util.module_from_spec(util.spec_from_loader("folder_cycles", LOADER))
LOADER.exec_module(folder_cycles)

ROOT = "Sources/Target"


def graph(**files):
    """A graph of files given as Folder_File="text"; a name without a folder is a file beside the folders."""
    return folder_graph.read(ROOT, {f"{ROOT}/{name.replace('_', '/')}.swift": text for name, text in files.items()})


def arrows(made):
    return [(a, b) for a in made.folders for b in sorted(made.arrows.get(a, {}))]


class Reading(unittest.TestCase):
    def test_a_mention_of_a_top_level_type_is_an_arrow(self):
        for declaration in ("struct Thing {}", "public final class Thing {}", "enum Thing {}", "protocol Thing {}",
                            "actor Thing {}", "typealias Thing = Int", "@frozen public struct Thing {}",
                            "@available(macOS 15, *)\npublic struct Thing {}", "package indirect enum Thing {}",
                            "#if os(Linux)\n  struct Thing {}\n#endif", "#if os(Linux)\nstruct Thing {}\n#endif"):
            made = graph(A_Use="func f(_: Thing) {}", B_Thing=declaration)
            self.assertEqual(arrows(made), [("A", "B")], declaration)
            self.assertEqual(made.arrows["A"]["B"], {f"{ROOT}/A/Use.swift": ["Thing"]})

    def test_the_name_of_a_trait_in_a_condition_is_no_mention(self):
        made = graph(A_Use="#if Thing\nstruct Use {}\n#elseif Thing && os(Linux)\n#endif", B_Thing="struct Thing {}")
        self.assertEqual(arrows(made), [])

    def test_an_extension_is_a_mention(self):
        self.assertEqual(arrows(graph(A_Use="extension Thing {}", B_Thing="struct Thing {}")), [("A", "B")])

    def test_files_beside_the_folders_are_a_folder_of_their_own(self):
        made = graph(Use="let a = Thing()", B_Thing="struct Thing {}", B_User="let b: Beside?", Beside="struct Beside {}")
        self.assertEqual(arrows(made), [(".", "B"), ("B", ".")])

    def test_comments_strings_and_members_are_no_mention(self):
        for text in ("// Thing", "/* Thing */", 'let a = "Thing"', 'let a = """\n  Thing\n  """', "let a: Other.Thing"):
            self.assertEqual(arrows(graph(A_Use=text, B_Thing="struct Thing {}")), [], text)

    def test_code_in_an_interpolation_is_a_mention(self):
        self.assertEqual(arrows(graph(A_Use='let a = "\\(Thing())"', B_Thing="struct Thing {}")), [("A", "B")])

    def test_nested_types_belong_to_nobody_else(self):
        self.assertEqual(arrows(graph(A_Use="struct Own { struct Inner {} }", B_B="struct B { enum Inner {} }")), [])

    def test_an_extension_with_nested_types_only_is_a_namespace(self):
        nested = "extension Outer {\n  public enum Code: String {\n    case a, b\n    var c: Int { 1 }\n  }\n}"
        files = {"A_Code": nested, "B_Use": "let a: Outer.Code", "C_Outer": "struct Outer { let b: Use }\nlet c: Code",
                 "B_Both": "struct Use { let a: Outer.Code }"}
        self.assertEqual(arrows(graph(**files)), [("B", "A"), ("C", "B")])

    def test_an_extension_with_other_members_is_a_mention(self):
        for member in ("func f() {}", "var a: Int { 1 }", "init() {}", "static let a = 1"):
            files = {"A_Code": "extension Outer {\n  enum Code { case a }\n  %s\n}" % member, "C_Outer": "struct Outer {}"}
            self.assertEqual(arrows(graph(**files)), [("A", "C")], member)

    def test_a_type_of_the_own_folder_comes_first(self):
        files = {"A_Use": "let a: Thing?", "A_Thing": "struct Thing {}", "B_Thing": "struct Thing {}"}
        self.assertEqual(arrows(graph(**files)), [])

    def test_a_type_of_several_platforms_belongs_to_each_folder(self):
        made = graph(A_Use="let a: Thing?", B_Thing="struct Thing {}", C_Thing="struct Thing {}")
        self.assertEqual(arrows(made), [("A", "B"), ("A", "C")])

    def test_private_types_of_one_name_are_nobody_elses(self):
        made = graph(A_Use="struct Own { struct State {} }", B_B="private struct State {}", C_C="private enum State {}")
        self.assertEqual(arrows(made), [])


class Cycles(unittest.TestCase):
    def test_folders_in_order_have_none(self):
        made = graph(A_A="struct A { var b: B; var c: C }", B_B="struct B { var c: C }", C_C="struct C {}")
        self.assertEqual(made.cycles(), [])
        self.assertEqual(made.layers(), [["C"], ["B"], ["A"]])
        self.assertEqual(made.direct(), [("A", "B"), ("B", "C")])

    def test_two_folders_that_know_each_other_are_one(self):
        made = graph(A_A="struct A { var b: B }", B_B="struct B {}", B_Back="struct Back { var a: A }", C_C="let a: A?")
        self.assertEqual(made.cycles(), [["A", "B"]])
        self.assertEqual(made.mutual(), [("A", "B")])
        self.assertEqual(made.layers(), [["A", "B"], ["C"]])
        self.assertEqual(made.direct(), [("A", "B"), ("B", "A"), ("C", "A")])

    def test_a_longer_one_is_found_too(self):
        made = graph(A_A="struct A { var b: B }", B_B="struct B { var c: C }", C_C="struct C { var a: A }",
                     C_Other="struct Other { var a: A }", D_D="struct D { var a: A }")
        self.assertEqual(made.cycles(), [["A", "B", "C"]])
        self.assertEqual(made.weakest(["A", "B", "C"]), [("A", "B")])

    def test_two_cycles_are_two(self):
        made = graph(A_A="struct A { var b: B }", B_B="struct B { var a: A }", C_C="struct C { var d: D; var a: A }",
                     D_D="struct D { var c: C }")
        self.assertEqual(made.cycles(), [["A", "B"], ["C", "D"]])


class Checking(unittest.TestCase):
    def setUp(self):
        self.cyclic = graph(A_A="struct A { var b: B }", A_More="struct More { var b: B }", B_B="struct B { var a: A }")
        self.fine = graph(A_A="struct A { var b: B }", B_B="struct B {}")

    def test_what_is_right_passes(self):
        self.assertEqual(folder_cycles.check({"T": self.fine}, []), [])

    def test_a_cycle_is_found_and_the_files_of_its_smaller_direction_are_named(self):
        found = "\n".join(folder_cycles.check({"T": self.cyclic}, []))
        self.assertIn("T: a cycle of 2 folders: A, B", found)
        self.assertIn("B mentions A (A mentions B in 2 files):\n    Sources/Target/B/B.swift: A", found)
        self.assertNotIn("More.swift", found)

    def test_an_exempt_target_passes(self):
        self.assertEqual(folder_cycles.check({"T": self.cyclic}, [("T", "soon gone")]), [])

    def test_an_exemption_that_is_not_needed_is_found(self):
        self.assertIn("T is not needed", "".join(folder_cycles.check({"T": self.fine}, [("T", "why")])))
        self.assertIn("U is not needed", "".join(folder_cycles.check({"T": self.fine}, [("U", "why")])))

    def test_an_exemption_needs_its_reason(self):
        self.assertIn("the reason is missing", "".join(folder_cycles.check({"T": self.cyclic}, [("T", "")])))


class Drawing(stand_ins.Scripts):
    def texts(self, made):
        picture = xml.etree.ElementTree.fromstring(folder_drawing.svg("Target", made))
        return picture, [it.text for it in picture.iter("{http://www.w3.org/2000/svg}text")]

    def test_it_shows_each_folder_and_each_direct_arrow(self):
        made = graph(A_A="struct A { var b: B; var c: C }", B_B="struct B { var c: C }", C_C="struct C {}",
                     D_D="struct D { var c: C }", Top="let d: D?")
        picture, texts = self.texts(made)
        for wanted in ("The folders of Target", "A", "B", "C", "D", "files beside"):
            self.assertIn(wanted, texts)
        paths = [it for it in picture.iter("{http://www.w3.org/2000/svg}path") if it.get("class") == "arrow"]
        self.assertEqual(len(paths), 4)

    def test_a_cycle_is_red(self):
        made = graph(A_A="struct A { var b: B }", B_B="struct B { var a: A }")
        self.assertEqual(folder_drawing.svg("Target", made).count('<path class="red" '), 2)

    def test_it_is_the_same_each_time(self):
        made = [graph(A_A="let a: (B, C)?", B_B="struct B {}", C_C="struct C {}", D_D="let d: (C, B)?") for _ in "ab"]
        self.assertEqual(*(folder_drawing.svg("Target", it) for it in made))

    def test_a_picture_that_is_out_of_date_is_found(self):
        folder = self.path("pictures")
        self.assertEqual(folder_cycles.outdated({"A.svg": "new"}, folder), [])
        folder_cycles.draw({"A.svg": "old", "B.svg": "gone"}, folder)
        self.assertEqual(folder_cycles.outdated({"A.svg": "old", "B.svg": "gone"}, folder), [])
        self.assertEqual(folder_cycles.outdated({"A.svg": "new", "C.svg": "more"}, folder), ["A.svg", "C.svg", "B.svg"])
        folder_cycles.draw({"A.svg": "new"}, folder)
        self.assertEqual(os.listdir(folder), ["A.svg"])


class ThisRepository(stand_ins.Scripts):
    def test_its_folders_are_in_order(self):
        status, output = self.run_script("scripts/folder-cycles")
        self.assertEqual(status, 0, output)
