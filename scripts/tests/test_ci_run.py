import os
import re
import time

from . import stand_ins


class CIRun(stand_ins.Scripts):
    """`.ci/run` with steps of the test's own."""

    def run_steps(self, *steps, **variables):
        with open(os.path.join(stand_ins.ROOT, ".ci", "run"), encoding="utf-8") as file:
            text = file.read()
        listed = "\n".join(f'  "{step}"' for step in steps)
        text, count = re.subn(r"^steps=\(\n.*?^\)$", f"steps=(\n{listed}\n)", text, flags=re.M | re.S)
        self.assertEqual(count, 1)
        self.write(self.path(".ci", "run"), text.split("\n", 1)[1])
        self.write(self.path("scripts", "install-missing"), "")
        return self.run_script(self.path(".ci", "run"), **variables)

    def test_it_runs_the_steps_in_order_and_says_what_each_took(self):
        status, output = self.run_steps("first|echo one", "second|echo two")
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"(?s)one.*two.*first +0:0\d\n.*second +0:0\d\n.*all of it +0:0\d\n")

    def test_the_first_step_that_fails_ends_it(self):
        status, output = self.run_steps("first|exit 3", "second|echo two")
        self.assertEqual(status, 3, output)
        self.assertIn('CI stopped: "first" failed', output)
        self.assertNotIn("two", output)

    def test_a_step_that_hangs_is_stopped_and_named_when_the_time_is_up(self):
        status, output = self.run_steps("first|exec sleep 50", "second|echo two", APUS_CI_MINUTES="1/30")
        self.assertEqual(status, 124, output)
        self.assertIn('CI stopped: "first" failed', output)

    def test_no_step_starts_when_the_time_is_up(self):
        status, output = self.run_steps("first|echo one", APUS_CI_MINUTES="0")
        self.assertEqual(status, 124, output)
        self.assertIn("the run has taken its 0 minutes", output)
        self.assertNotIn("one\n", output)

    def test_a_command_in_the_background_runs_beside_the_steps_and_ends_with_the_last(self):
        started = self.path("started")
        status, output = self.run_steps(
            f"in the background|echo \\$\\$ >{started}; sleep 50 & wait",
            f"first|until test -s {started}; do :; done; echo one")
        self.assertEqual(status, 0, output)
        self.assertIn("one", output)
        self.assertNotIn("in the background", output)
        with open(started, encoding="utf-8") as file:
            group = int(file.read())
        for _ in range(1000):
            try:
                os.killpg(group, 0)
            except ProcessLookupError:
                return
            time.sleep(0.005)
        self.fail("the command still runs")

    def test_every_script_that_a_step_names_exists(self):
        with open(os.path.join(stand_ins.ROOT, ".ci", "run"), encoding="utf-8") as file:
            for script in re.findall(r"\b(?:scripts|Benchmarks)/[\w./-]+", file.read()):
                self.assertTrue(os.path.exists(os.path.join(stand_ins.ROOT, script)), script)
