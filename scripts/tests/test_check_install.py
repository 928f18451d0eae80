import os

from . import stand_ins

VERSION_FILE = os.path.join(stand_ins.ROOT, "Tools", "Sources", "ApusTool", "ToolVersion.swift")
# As the Makefile's target, but for looking after the machine.
MAKE = """for word in "$@"; do
  case "$word" in PREFIX=* | DESTDIR=*) export "${word?}" ;; esac
done
"""


class CheckInstall(stand_ins.Scripts):
    def setUp(self):
        super().setUp()
        with open(VERSION_FILE, encoding="utf-8") as file:
            self.version = "apus " + next(line.split('"')[1] for line in file if "static let current" in line)
        self.tool(self.version)
        self.make("scripts/install\n")

    def tool(self, version, commands="send batch"):
        text = f'if [[ "$1" == --version ]]; then echo "{version}"; else echo "{commands}"; fi\n'
        self.write(self.path("apus"), text)

    def make(self, text):
        self.program("make", MAKE + text)

    def check(self):
        return self.run_script("scripts/check-install", APUS_TOOL="{folder}/apus")

    def assert_finds(self, words):
        status, output = self.check()
        self.assertEqual(status, 1, output)
        self.assertIn(words, output)

    def test_what_is_right_passes(self):
        status, output = self.check()
        self.assertEqual(status, 0, output)
        self.assertIn("can be installed", output)

    def test_a_prefix_that_does_not_count_is_found(self):
        self.make("exit 0\n")
        self.assert_finds("and made: nothing")

    def test_a_destdir_that_does_not_count_is_found(self):
        self.make("DESTDIR= scripts/install\n")
        self.assert_finds("/stage/")

    def test_more_than_the_tool_is_found(self):
        self.make('scripts/install\ntouch "$DESTDIR$PREFIX/more"\n')
        self.assert_finds("/more")

    def test_an_installation_that_fails_is_found(self):
        self.make("echo 'no room'\nexit 2\n")
        self.assert_finds("no room")

    def test_another_version_is_found(self):
        self.tool("apus 0.0.0")
        self.assert_finds("“apus 0.0.0” in place of")

    def test_a_tool_without_its_commands_is_found(self):
        self.tool(self.version, commands="send")
        self.assert_finds("names no commands")
