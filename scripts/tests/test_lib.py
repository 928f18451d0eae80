from . import stand_ins


class Exiting(stand_ins.Scripts):
    """How scripts exit that have nothing to do here."""

    def run_line(self, line, **variables):
        script = self.write(self.path("some-check"), f'source "{stand_ins.ROOT}/scripts/lib.sh"\n{line}\necho more\n')
        return self.run_script(script, **variables)

    def test_a_skip_names_the_missing_program_and_succeeds(self):
        self.assertEqual(self.run_line('skip "nginx"'), (0, "skipped: nginx\n"))
        self.assertEqual(self.run_line('skip "nginx"', CI="false", APUS_SERVERS="")[0], 0)

    def test_a_skip_fails_in_ci(self):
        for variables in ({"APUS_SERVERS": "required"}, {"CI": "true"}):
            self.assertEqual(self.run_line('skip "nginx"', **variables), (1, "some-check: missing: nginx\n"))

    def test_a_build_says_what_it_is_doing(self):
        output = "printf '[1/9] Compiling A\\n[2/9] Compiling B\\nBuild complete!\\n'"
        status, output = self.run_line(f"run_build 'the demo' bash -c \"{output}\"")
        self.assertEqual((status, output), (0, "building the demo: [1/9] Compiling A\nmore\n"))

    def test_a_build_that_fails_shows_its_output_without_the_steps(self):
        output = "printf '[1/9] Compiling A\\nA.swift:1:1: error: wrong\\n'; exit 3"
        status, output = self.run_line(f"run_build 'the demo' bash -c \"{output}\"")
        self.assertEqual(status, 3)
        self.assertIn("A.swift:1:1: error: wrong\n", output)
        self.assertEqual(output.count("Compiling A"), 1)

    def test_a_check_for_another_system_succeeds_in_ci(self):
        for variables in ({}, {"APUS_SERVERS": "required"}):
            self.assertEqual(self.run_line('not_here "it has no ELF"', **variables), (0, "not here: it has no ELF\n"))
