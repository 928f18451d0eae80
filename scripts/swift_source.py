"""Swift source for the checkers: without comments and without the text of strings.

`code(text)` returns text of the same length with the same lines, in which comments, string contents and regex literals
are blank; quotes and the code inside interpolations stay. The lexer handles nested comments, raw and multi-line
strings, nested interpolations, and common bare regex literals.
"""

import os
import re
import sys


def code(text):
    return _Lexer(text).run()


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def swift_files(*roots):
    """The Swift files in the given folders, sorted, without build products and generated files."""
    found = []
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".") and name != "Generated"]
            found += [os.path.join(folder, name) for name in names if name.endswith(".swift")]
    return sorted(found)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def entries(path):
    """The lines of a list file without comments: [(first word, rest)]. A missing file ends the checker with an error:
    if it counted as empty, a checker with a wrong path would not notice exemptions."""
    if not os.path.exists(path):
        sys.exit(f"the list {path} is missing")
    lines = [line.strip() for line in read(path).splitlines()]
    return [tuple((line.split(None, 1) + [""])[:2]) for line in lines if line and not line.startswith("#")]


def matching(text, start):
    """The offset of the bracket that closes the one at `start`, or of the last character."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] in "([{":
            depth += 1
        elif text[index] in ")]}":
            depth -= 1
            if depth == 0:
                return index
    return len(text) - 1


class _Lexer:
    def __init__(self, text):
        self.text = text
        self.out = list(text)
        self.end = len(text)

    def run(self):
        self.code_from(0, closing=None)
        return "".join(self.out)

    def blank(self, start, stop):
        for index in range(start, min(stop, self.end)):
            if self.out[index] != "\n":
                self.out[index] = " "
        return stop

    def code_from(self, index, closing):
        """Reads code to the end or to the parenthesis that ends an interpolation; returns the offset after it."""
        depth = 0
        while index < self.end:
            text = self.text
            if text.startswith("//", index):
                stop = text.find("\n", index)
                index = self.blank(index, self.end if stop < 0 else stop)
            elif text.startswith("/*", index):
                index = self.comment(index)
            elif (opening := re.compile(r'#*"').match(text, index)) is not None:
                index = self.string(index, opening.group().count("#"))
            elif (regex := self.regex_end(index)) is not None:
                index = self.blank(index + 1, regex - 1) + 1
            else:
                if text[index] == "(":
                    depth += 1
                elif text[index] == ")":
                    if closing and depth == 0:
                        return index + 1
                    depth -= 1
                index += 1
        return index

    def comment(self, start):
        depth, index = 0, start
        while index < self.end:
            if self.text.startswith("/*", index):
                depth, index = depth + 1, index + 2
            elif self.text.startswith("*/", index):
                depth, index = depth - 1, index + 2
                if depth == 0:
                    break
            else:
                index += 1
        return self.blank(start, index)

    def string(self, start, hashes):
        marks = "#" * hashes
        index = start + hashes
        quotes = '"""' if self.text.startswith('"""', index) else '"'
        index += len(quotes)
        while index < self.end:
            if self.text.startswith(quotes + marks, index):
                return index + len(quotes) + hashes
            if self.text.startswith("\\" + marks, index):
                after = index + 1 + hashes
                if self.text.startswith("(", after):
                    self.blank(index, after + 1)
                    index = self.code_from(after + 1, closing=")")
                    self.blank(index - 1, index)
                else:
                    index = self.blank(index, after + 1)
            elif quotes == '"' and self.text[index] == "\n":
                return index
            else:
                index = self.blank(index, index + 1)
        return index

    def regex_end(self, index):
        """The offset after the regex literal that starts here, or None."""
        if self.text.startswith("#/", index):
            stop = self.text.find("/#", index + 2)
            return None if stop < 0 else stop + 2
        if self.text[index] != "/":
            return None
        before = self.text[:index].rstrip(" ")[-8:]
        if not (before and before[-1] in "(=,[{:\n") and not re.search(r"\b(return|in|try)$", before):
            return None
        literal = re.compile(r"/(?![\s/*])(?:\\.|[^\\/\n])*[^\s\\]/").match(self.text, index)
        return literal.end() if literal else None
