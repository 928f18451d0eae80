import unittest

import swift_source


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
