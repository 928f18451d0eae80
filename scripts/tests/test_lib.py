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

    def test_a_check_for_another_system_succeeds_in_ci(self):
        for variables in ({}, {"APUS_SERVERS": "required"}):
            self.assertEqual(self.run_line('not_here "it has no ELF"', **variables), (0, "not here: it has no ELF\n"))
