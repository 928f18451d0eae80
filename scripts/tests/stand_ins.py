"""Runs scripts with stand-ins for some of the programs that they call."""

import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Variables that would change what a script does.
UNWANTED = {"CI", "PREFIX", "DESTDIR", "FILTER", "COVERAGE", "MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL"}


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(self.path("programs"))

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, path, text):
        """Writes a bash program; one in the folder `programs` is found before all others."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/usr/bin/env bash\n" + text)
        os.chmod(path, 0o755)
        return path

    def program(self, name, text):
        return self.write(self.path("programs", name), text)

    def run_script(self, script, *arguments, **variables):
        """The exit status and output of a script; `{folder}` in a variable is the test's folder."""
        environment = {name: value for name, value in os.environ.items()
                       if name not in UNWANTED and not name.startswith("APUS_")}
        environment["PATH"] = self.path("programs") + os.pathsep + environment.get("PATH", os.defpath)
        environment.update({name: value.replace("{folder}", self.folder) for name, value in variables.items()})
        done = subprocess.run([os.path.join(ROOT, script), *arguments], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        return done.returncode, done.stdout
