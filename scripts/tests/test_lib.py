from . import stand_ins


class Leaving(stand_ins.Scripts):
    """What scripts do that cannot do anything."""

    def run_line(self, line, **variables):
        script = self.write(self.path("some-check"), f'source "{stand_ins.ROOT}/scripts/lib.sh"\n{line}\necho more\n')
        return self.run_script(script, **variables)

    def test_a_skip_names_what_is_missing_and_succeeds(self):
        self.assertEqual(self.run_line('skip "nginx"'), (0, "skipped: nginx\n"))
        self.assertEqual(self.run_line('skip "nginx"', CI="false", APUS_SERVERS="")[0], 0)

    def test_in_ci_it_fails(self):
        for variables in ({"APUS_SERVERS": "required"}, {"CI": "true"}):
            self.assertEqual(self.run_line('skip "nginx"', **variables), (1, "some-check: missing: nginx\n"))

    def test_what_another_system_needs_is_not_missing(self):
        for variables in ({}, {"APUS_SERVERS": "required"}):
            self.assertEqual(self.run_line('not_here "it has no ELF"', **variables), (0, "not here: it has no ELF\n"))
