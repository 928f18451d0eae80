from . import stand_ins

ENDING = "echo '✔ Test run with {count} tests in 1 suite passed after 0.1 seconds.'\n"
SKIPPED = "echo '➜ Test \"pages\" skipped: \"nginx is not installed\"'\n"


class SwiftTest(stand_ins.Scripts):
    def run_tests(self, output, **variables):
        self.program("swift", output)
        return self.run_script("scripts/swift-test", "--filter", "x", **variables)

    def test_it_passes_if_tests_ran(self):
        self.assertEqual(self.run_tests(ENDING.format(count=2), APUS_SERVERS="required")[0], 0)

    def test_it_fails_if_no_test_ran(self):
        status, output = self.run_tests(ENDING.format(count=0))
        self.assertEqual(status, 1)
        self.assertIn("no test ran: swift test --filter x", output)

    def test_it_exits_like_the_tests_and_repeats_the_failures(self):
        failure = "✘ Test \"pages\" recorded an issue at A.swift:1:1: Expectation failed"
        status, output = self.run_tests(f"echo '{failure}'\n{ENDING.format(count=2)}exit 3\n")
        self.assertEqual(status, 3)
        self.assertEqual(output.count(failure), 2)

    def test_tests_that_hang_are_stopped_and_named(self):
        lines = ["◇ Test \"pages\" started.", "◇ Test \"lines\" started.", "◇ Test \"waits\" started.",
                 "◇ Test case passing 1 argument n → 1 to \"waits\" started.",
                 "✔ Test \"pages\" with 2 test cases passed after 0.1 seconds.",
                 "◇ Test case passing 1 argument text → \"✔ Test \"lines\" passed after 0.1 seconds."]
        output = "".join(f"echo '{line}'\n" for line in lines)
        status, output = self.run_tests(output + "exec sleep 50\n", APUS_TEST_LIMIT="1")
        self.assertEqual(status, 124)
        self.assertIn("not seen to end: waits\n", output)
        self.assertNotIn("not seen to end: pages", output)
        self.assertNotIn("not seen to end: lines", output)

    def test_in_ci_a_skipped_test_fails_with_its_reason(self):
        for variables in ({"APUS_SERVERS": "required"}, {"CI": "true"}):
            status, output = self.run_tests(SKIPPED + ENDING.format(count=2), **variables)
            self.assertEqual(status, 1)
            self.assertIn('skipped: "pages": nginx is not installed', output)

    def test_elsewhere_a_skipped_test_passes(self):
        self.assertEqual(self.run_tests(SKIPPED + ENDING.format(count=2))[0], 0)
