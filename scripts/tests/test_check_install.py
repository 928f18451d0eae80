import os

from . import stand_ins

VERSION_FILE = os.path.join(stand_ins.ROOT, "Tools", "Sources", "ApusTool", "ToolVersion.swift")
# The Makefile's target without the installation of missing packages.
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

    def test_a_correct_installation_passes(self):
        status, output = self.check()
        self.assertEqual(status, 0, output)
        self.assertIn("installs and starts", output)

    def test_an_ignored_prefix_is_found(self):
        self.make("exit 0\n")
        self.assert_finds("but installed: nothing")

    def test_an_ignored_destdir_is_found(self):
        self.make("DESTDIR= scripts/install\n")
        self.assert_finds("/stage/")

    def test_additional_files_are_found(self):
        self.make('scripts/install\ntouch "$DESTDIR$PREFIX/more"\n')
        self.assert_finds("/more")

    def test_an_installation_that_fails_is_found(self):
        self.make("echo 'no room'\nexit 2\n")
        self.assert_finds("no room")

    def test_another_version_is_found(self):
        self.tool("apus 0.0.0")
        self.assert_finds("“apus 0.0.0” instead of")

    def test_a_tool_without_its_commands_is_found(self):
        self.tool(self.version, commands="send")
        self.assert_finds("does not list its commands")
