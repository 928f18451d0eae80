"""Third-party servers announce their ports, and leave nothing behind, however their parent ends."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SERVERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "servers")
sys.path.insert(0, SERVERS)

import serve  # noqa: E402

PATH = os.environ.get("PATH", os.defpath) + ":/usr/sbin"
REQUIRED = os.environ.get("APUS_SERVERS") == "required" or os.environ.get("CI") == "true"
# Any user may run this one; the interpreter of the tests may be readable by root only.
PYTHON = "/usr/bin/python3"


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
        return True
    except OSError:
        return False


def eventually(holds, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return False


@unittest.skipUnless(REQUIRED or shutil.which("nginx", path=PATH), "nginx is not installed")
class Serving(unittest.TestCase):
    def started(self, *command, python=sys.executable, scripts=SERVERS, **options):
        # Threads of the tests may block signals.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        self.addCleanup(signal.pthread_sigmask, signal.SIG_SETMASK, blocked)
        process = subprocess.Popen([*command, python, os.path.join(scripts, "serve.py"), "nginx"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        line = process.stdout.readline()
        self.assertTrue(line.startswith("ready "), line)
        facts = json.loads(line[len("ready "):])
        self.assertTrue(answers(facts["ports"]["plain"]))
        return process, facts

    def assert_gone(self, facts):
        self.assertTrue(eventually(lambda: not os.path.exists(facts["folder"])))
        self.assertTrue(eventually(lambda: not answers(facts["ports"]["plain"])))

    def test_it_ends_with_its_standard_input(self):
        process, facts = self.started()
        process.stdin.close()
        self.assertEqual(process.wait(60), 0)
        self.assert_gone(facts)

    def test_a_signal_ends_it(self):
        process, facts = self.started()
        process.terminate()
        process.wait(60)
        self.assert_gone(facts)

    def test_it_ends_with_its_parent_even_if_its_input_stays_open(self):
        process, facts = self.started("sh", "-c", 'exec 3<&0; "$@" <&3 & wait', "sh")
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        self.assert_gone(facts)

    def test_two_servers_run_side_by_side(self):
        (first, one), (second, two) = self.started(), self.started()
        self.assertFalse(set(one["ports"].values()) & set(two["ports"].values()))
        self.assertNotEqual(one["folder"], two["folder"])
        for process in (first, second):
            process.stdin.close()
            process.wait(60)

    @unittest.skipUnless(os.geteuid() == 0, "only root can start it as somebody else")
    @unittest.skipUnless(REQUIRED or os.access(PYTHON, os.X_OK), f"{PYTHON} is not installed")
    def test_it_runs_without_root(self):
        # Another user may not be able to read this checkout.
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        scripts = shutil.copytree(SERVERS, os.path.join(folder, "servers"))
        process, facts = self.started(python=PYTHON, scripts=scripts, cwd="/", user="nobody",
                                      group="nogroup", extra_groups=[])
        self.assertNotEqual(os.stat(facts["folder"]).st_uid, 0)
        process.stdin.close()
        self.assertEqual(process.wait(60), 0)
        self.assert_gone(facts)


class Missing(unittest.TestCase):
    def test_a_missing_program_is_named(self):
        with self.assertRaisesRegex(serve.Failed, "^no-such-server is not installed$"):
            serve.program("no-such-server")


if __name__ == "__main__":
    unittest.main()
