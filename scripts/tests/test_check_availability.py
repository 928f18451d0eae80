import unittest

import check_availability


class Availability(unittest.TestCase):
    def problems(self, text):
        return check_availability.check("Sources/A/B.swift", text)

    def test_names_above_the_floor_are_found(self):
        for text in ("InlineArray<4, UInt8>(repeating: 0)", "var a: [4 of UInt8]", "array.span", "text.utf8.span",
                     "UTF8Span", "Task.immediate { }", "Task(name: n) { }", "Task.detached(name: n) { }",
                     "group.addTask(name: n) { }", "Task.name", "Observations { }", "Task<Int, Never>.immediate {}"):
            self.assertEqual(len(self.problems(text)), 1, text)

    def test_names_below_it_pass(self):
        for text in ("Mutex(0)", "Span<UInt8>", "Task { }", "Task(priority: p) { }", "// array.span", "timespan",
                     "task.name"):
            self.assertEqual(self.problems(text), [], text)

    def test_a_comment_can_allow_a_line(self):
        self.assertEqual(self.problems("array.span  // available: ContiguousArray, iOS 12.2"), [])
        self.assertTrue(self.problems("array.span  // available:"))
