import os
import stat

from . import stand_ins

TOOL = "echo \"apus 1.2.3 of $0\"\n"
# Records its arguments; the tool is already built.
SWIFT = """echo "$*" >>'{folder}/calls'
if [[ "$*" == *--show-bin-path ]]; then echo '{folder}/built'; fi
"""


class Installing(stand_ins.Scripts):
    def setUp(self):
        super().setUp()
        self.tool = self.write(self.path("built", "apus"), TOOL)
        self.program("swift", SWIFT.format(folder=self.folder))

    def install(self, **variables):
        return self.run_script("scripts/install", **variables)

    def calls(self):
        if not os.path.exists(self.path("calls")):
            return []
        with open(self.path("calls"), encoding="utf-8") as file:
            return file.read().splitlines()

    def files(self, *below):
        return sorted(os.path.join(folder, name) for folder, _, names in os.walk(self.path(*below)) for name in names)

    def test_the_tool_is_built_optimized_and_installed_below_the_prefix(self):
        status, output = self.install(PREFIX="{folder}/prefix")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.files("prefix"), [self.path("prefix/bin/apus")])
        self.assertEqual(stat.S_IMODE(os.stat(self.path("prefix/bin/apus")).st_mode), 0o755)
        build = "build -c release --package-path Tools --product apus"
        self.assertEqual(self.calls(), [build, build + " --show-bin-path"])
        self.assertIn(f"apus 1.2.3 of {self.path('prefix/bin/apus')} is in {self.path('prefix/bin')}", output)

    def test_destdir_is_put_in_front_of_the_prefix(self):
        status, output = self.install(PREFIX="{folder}/prefix", DESTDIR="{folder}/stage")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.files("stage"), [self.path("stage") + self.path("prefix/bin/apus")])
        self.assertFalse(os.path.exists(self.path("prefix")))

    def test_the_default_prefix_is_usr_local(self):
        status, output = self.install(DESTDIR="{folder}/stage")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.files("stage"), [self.path("stage/usr/local/bin/apus")])

    def test_a_tilde_is_the_home_folder(self):
        for prefix, place in (("~/own", "home/own/bin/apus"), ("~", "home/bin/apus")):
            self.assertEqual(self.install(PREFIX=prefix, HOME="{folder}/home")[0], 0)
            self.assertIn(self.path(place), self.files("home"))

    def test_a_given_tool_is_installed_without_a_build(self):
        other = self.write(self.path("other"), "echo other\n")
        status, output = self.install(PREFIX="{folder}/prefix", APUS_TOOL=other)
        self.assertEqual(status, 0, output)
        self.assertEqual(self.calls(), [])
        with open(other, "rb") as one, open(self.path("prefix/bin/apus"), "rb") as installed:
            self.assertEqual(installed.read(), one.read())

    def test_a_missing_tool_is_named(self):
        status, output = self.install(PREFIX="{folder}/prefix", APUS_TOOL="{folder}/none")
        self.assertEqual((status, output), (1, f"install: there is no tool at {self.path('none')}\n"))

    def test_a_folder_that_cannot_be_made_fails_before_the_build(self):
        status, output = self.install(PREFIX=self.tool)
        self.assertEqual(status, 1)
        self.assertIn(f"cannot make {self.tool}/bin", output)
        self.assertEqual(self.calls(), [])

    def test_a_failed_build_shows_its_output_and_installs_nothing(self):
        self.program("swift", "echo 'error: no such module'\nexit 1\n")
        status, output = self.install(PREFIX="{folder}/prefix")
        self.assertEqual(status, 1)
        self.assertIn("error: no such module", output)
        self.assertEqual(self.files("prefix"), [])

    def test_a_tool_that_does_not_start_is_a_failure(self):
        self.write(self.tool, "exit 127\n")
        status, output = self.install(PREFIX="{folder}/prefix")
        self.assertEqual(status, 1)
        self.assertIn("does not start", output)
