import unittest

import check_constructs


class Constructs(unittest.TestCase):
    def problems(self, text, path="Sources/ApusMiddleware/A.swift"):
        return check_constructs.check(path, text)

    def test_each_forbidden_construct_is_found_once(self):
        for text in ("try! f()", "x as! Y", "fatalError()", "[unowned self]", "a.unsafelyUnwrapped", "x!", "x![0]",
                     "f()!.y", "a[0]!", "x?.y!.z", "var a: String!", 'd["k"]!', "{ 1 }()!", 'p("\\(x!)")', "x! + 1"):
            self.assertEqual(len(self.problems(text)), 1, text)

    def test_similar_code_passes(self):
        for text in ("!x", "a != b", "a!=b", "f(!x)", "[!x]", "return !x", "// try! x!", '"x!"', "#if !canImport(A)",
                     "self.fatalError()", "a ? !b : c", "{ !$0 }", "try? x as? Y"):
            self.assertEqual(self.problems(text), [], text)

    def test_core_has_no_unchecked_state(self):
        for text in ("extension A: @unchecked Sendable {}", "nonisolated(unsafe) var a = 0"):
            self.assertEqual(self.problems(text), [])
            self.assertEqual(len(self.problems(text, "Sources/ApusCore/A.swift")), 1)

    def test_unsafe_memory_of_json_is_in_listed_files(self):
        for text in ("let a: UnsafeRawPointer", "withUnsafeBytes { $0 }", "unsafeBitCast(a, to: B.self)"):
            self.assertEqual(self.problems(text), [])
            self.assertEqual(len(self.problems(text, "Sources/ApusJSON/Values/A.swift")), 1, text)
            self.assertEqual(self.problems(text, "Sources/ApusJSON/Tape/JSONTape.swift"), [])

    def test_the_line_is_named(self):
        self.assertTrue(self.problems("a\nb\nx!\n")[0].startswith("Sources/ApusMiddleware/A.swift:3: "))
