import unittest

import check_size


def function(lines):
    return "func f() {\n" + "  a()\n" * (lines - 2) + "}\n"


class Functions(unittest.TestCase):
    def found(self, text):
        return [(it.name, it.lines, it.parameters) for it in check_size.functions(text)]

    def test_parameters_are_counted_outside_closures_tuples_and_generic_arguments(self):
        text = "func f<A, B>(_ a: (A, B) -> (A, B), b: [A: B], c: Result<A, B> = .x(1, 2), @Sendable d e: A) -> A { 0 }"
        self.assertEqual(self.found(text), [("f(_:b:c:d:)", 1, 4)])

    def test_a_body_may_start_on_a_later_line(self):
        text = "public init?<T>(\n  a: T,\n  b: Int\n) async throws(E)\nwhere T: P\n{\n  x()\n}\n"
        self.assertEqual(self.found(text), [("init(a:b:)", 8, 2)])

    def test_requirements_have_no_body(self):
        text = "protocol P {\n  func a(b: Int) async\n  func c()\n  var d: Int { get }\n}\nstruct S {\n}\n"
        self.assertEqual(self.found(text), [("a(b:)", 1, 1), ("c()", 1, 0), ("d", 1, 0)])

    def test_operators_subscripts_and_nested_functions_are_checked_and_calls_are_not(self):
        text = "static func == (a: A, b: A) -> Bool { .init(a) }\nsubscript(i: Int) -> A {\n  func g() { self.init() }\n}\n"
        self.assertEqual(self.found(text), [("==(a:b:)", 1, 2), ("subscript(i:)", 3, 1), ("g()", 1, 0)])


class Limits(unittest.TestCase):
    def problems(self, files, exemptions=()):
        return check_size.check(files, list(exemptions))[0]

    def test_a_long_file_is_found(self):
        self.assertEqual(self.problems({"Sources/A/B.swift": "\n" * 300}), [])
        self.assertIn("401 lines, 400", "".join(self.problems({"Sources/A/B.swift": "\n" * 401})))

    def test_tests_may_be_longer(self):
        self.assertEqual(self.problems({"Tests/A/B.swift": "\n" * 600}), [])
        self.assertTrue(self.problems({"Examples/Tests/A/B.swift": "\n" * 601}))

    def test_a_listed_state_machine_may_be_longer(self):
        machine = [("state-machine", "Sources/A/B.swift", "one machine")]
        others = {f"Sources/A/{n}.swift": "" for n in range(20)}
        self.assertEqual(self.problems({"Sources/A/B.swift": "\n" * 700, **others}, machine), [])
        self.assertTrue(self.problems({"Sources/A/B.swift": "\n" * 701, **others}, machine))

    def test_nine_of_ten_files_have_at_most_300_lines(self):
        files = {f"Sources/A/{n}.swift": "\n" * (350 if n < 2 else 10) for n in range(10)}
        self.assertIn("nine of ten", "".join(self.problems(files)))

    def test_a_long_function_is_found(self):
        self.assertEqual(self.problems({"Sources/A/B.swift": function(50)}), [])
        self.assertIn("51 lines, 50", "".join(self.problems({"Sources/A/B.swift": function(51)})))

    def test_a_fifth_parameter_is_found_unless_listed(self):
        files = {"Sources/A/B.swift": "struct S { init(a: A, b: A, c: A, d: A, e: A) {} }\n"}
        self.assertIn("5 parameters", "".join(self.problems(files)))
        listed = ("parameters", "Sources/A/B.swift#init(a:b:c:d:e:)")
        self.assertEqual(self.problems(files, [(*listed, "memberwise")]), [])
        self.assertIn("reason is missing", "".join(self.problems(files, [(*listed, "")])))

    def test_an_exemption_that_is_not_needed_is_found(self):
        unneeded = [("lines", "Sources/A/B.swift#f()", "once long")]
        self.assertIn("not needed", "".join(self.problems({"Sources/A/B.swift": function(3)}, unneeded)))
