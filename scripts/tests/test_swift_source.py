import os
import re
import tempfile
import unittest

import swift_source

from . import stand_ins


class Lexing(unittest.TestCase):
    def blanked(self, text):
        code = swift_source.code(text)
        self.assertEqual(len(code), len(text))
        self.assertEqual(code.count("\n"), text.count("\n"))
        return " ".join(code.split())

    def test_comments_are_blank_even_if_nested(self):
        self.assertEqual(self.blanked("a // b!\n/* c! /* d */ e! */ f"), "a f")

    def test_string_contents_are_blank_and_quotes_stay(self):
        self.assertEqual(self.blanked('f("a! // b", "\\"!")'), 'f(" ", " ")')

    def test_interpolated_code_stays(self):
        self.assertIn("x!", self.blanked('f("a \\(g("b \\(x!) c")) d")'))

    def test_raw_strings_end_at_their_own_delimiters(self):
        self.assertEqual(self.blanked('#"a " \\(b!) "# + c'), '#" "# + c')
        self.assertIn("b!", self.blanked('#"a \\#(b!) "#'))

    def test_multi_line_strings_may_contain_quotes(self):
        self.assertEqual(self.blanked('f("""\n a "b" // c!\n """) + d'), 'f(""" """) + d')

    def test_regex_literals_are_blank_and_division_is_not(self):
        self.assertEqual(self.blanked('let r = /a"b!/ + c / d / e'), "let r = / / + c / d / e")
        self.assertEqual(self.blanked("x(#/a!/b/#)"), "x(# #)")


class Lists(unittest.TestCase):
    def test_an_entry_has_a_first_word_and_a_rest(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "list.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write("# A comment.\n\nTarget  a reason\nOther\n")
            self.assertEqual(swift_source.entries(path), [("Target", "a reason"), ("Other", "")])

    def test_a_missing_file_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "the list nowhere.txt is missing"):
            swift_source.entries("nowhere.txt")

    def test_the_lists_that_the_checkers_read_exist(self):
        folder, read = os.path.join(stand_ins.ROOT, "scripts"), set()
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                read |= set(re.findall(r'"(scripts/[\w-]+\.txt)"', swift_source.read(path)))
        self.assertIn("scripts/folder-cycle-exemptions.txt", read)
        for path in sorted(read):
            self.assertTrue(os.path.exists(os.path.join(stand_ins.ROOT, path)), path)
