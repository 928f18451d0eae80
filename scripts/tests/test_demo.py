from . import stand_ins


class Demo(stand_ins.Scripts):
    def setUp(self):
        super().setUp()
        self.write(self.path("bin", "demo"), 'echo "played $*"')
        # Nothing can be installed.
        for name in ("python3", "apt-get", "sudo"):
            self.program(name, "exit 1")

    def run_demo(self, build):
        self.program("swift", f'if [[ "$*" == *--show-bin-path* ]]; then echo {self.path("bin")}; else {build}; fi')
        return self.run_script("scripts/demo", "--latency", "60")

    def test_it_is_built_and_played_even_if_its_s3_server_cannot_be_installed(self):
        status, output = self.run_demo("echo '[1/2] Compiling Demo Demo.swift'")
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"(?s)building the demo: \[1/2\] Compiling Demo Demo\.swift\n.*played --latency 60\n$")

    def test_a_build_that_fails_is_shown_and_nothing_is_played(self):
        status, output = self.run_demo("echo 'Demo.swift:1:1: error: wrong'; exit 3")
        self.assertEqual(status, 3)
        self.assertIn("Demo.swift:1:1: error: wrong\n", output)
        self.assertNotIn("played", output)
