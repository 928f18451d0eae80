"""Third-party servers announce their ports, and leave nothing behind, however their parent ends."""

import filecmp
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
import urllib.parse
import urllib.request

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


class Servers(unittest.TestCase):
    def started(self, *command, name="nginx", python=sys.executable, scripts=SERVERS, **options):
        # Threads of the tests may block signals.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        self.addCleanup(signal.pthread_sigmask, signal.SIG_SETMASK, blocked)
        process = subprocess.Popen([*command, python, os.path.join(scripts, "serve.py"), name],
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


@unittest.skipUnless(REQUIRED or shutil.which("nginx", path=PATH), "nginx is not installed")
class Serving(Servers):
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


@unittest.skipUnless(REQUIRED or os.path.isdir(serve.PYPI), "the servers from PyPI are not installed")
class Uploads(Servers):
    def requested(self, method, url, fields, content=None):
        request = urllib.request.Request(url, content, {"Tus-Resumable": "1.0.0", **fields}, method=method)
        with urllib.request.urlopen(request, timeout=60) as response:
            return response

    def upload(self, server):
        """Uploads ten bytes in two requests. Returns what the server has stored, and the lines of its log."""
        process, facts = self.started(name=server)
        files = f"http://127.0.0.1:{facts['ports']['plain']}/files"
        created = self.requested("POST", files, {"Upload-Length": "10", "Upload-Metadata": "filename YQ=="})
        url = urllib.parse.urljoin(files, created.headers["Location"])
        fields = {"Content-Type": "application/offset+octet-stream"}
        self.requested("PATCH", url, {**fields, "Upload-Offset": "0"}, b"01234")
        offset = self.requested("HEAD", url, {}).headers["Upload-Offset"]
        self.assertEqual(offset, "5")
        self.requested("PATCH", url, {**fields, "Upload-Offset": offset}, b"56789")
        with open(os.path.join(facts["folder"], "uploads", url.rsplit("/", 1)[-1]), "rb") as file:
            stored = file.read()
        with open(os.path.join(facts["folder"], "requests.log"), encoding="utf-8") as file:
            log = [line.split() for line in file]
        process.stdin.close()
        self.assertEqual(process.wait(60), 0)
        self.assert_gone(facts)
        return stored, [[line[0], *line[2:]] for line in log]

    def test_they_store_an_upload_that_is_continued_and_log_its_requests(self):
        for server in ("litestar-tus", "aiohttp-tus"):
            with self.subTest(server):
                stored, log = self.upload(server)
                self.assertEqual(stored, b"0123456789")
                self.assertEqual(log, [["POST", "-", "0", "201"], ["PATCH", "0", "5", "204"],
                                       ["HEAD", "-", "-", "200"], ["PATCH", "5", "5", "204"]])

    def test_aiotus_uploads_a_file(self):
        process, facts = self.started(name="aiohttp-tus")
        url = f"http://127.0.0.1:{facts['ports']['plain']}/files"
        done = subprocess.run([sys.executable, os.path.join(SERVERS, "aiotus_upload.py"), url, __file__],
                              capture_output=True, text=True, timeout=60, check=True)
        stored = os.path.join(facts["folder"], "uploads", done.stdout.strip().rsplit("/", 1)[-1])
        self.assertTrue(filecmp.cmp(__file__, stored, shallow=False))
        process.stdin.close()


class Missing(unittest.TestCase):
    def test_a_missing_program_is_named(self):
        with self.assertRaisesRegex(serve.Failed, "^no-such-server is not installed$"):
            serve.program("no-such-server")


if __name__ == "__main__":
    unittest.main()
