import importlib.machinery
import importlib.util
import os
import unittest

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def program(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(FOLDER, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


TABLES = """2 interleaved runs

| answer | in flight | contender | CPU µs | CPU ratio | lowest µs | lowest ratio | calls/s | writes |
|---|---|---|---|---|---|---|---|---|
| object, 152 B | 64 | Apus | 20.0 | 0.39 | 10.0 | 0.40 | 9000 | 0.30 |

| transfer | contender | CPU ms | CPU ratio | lowest ms | lowest ratio | MB/s | speed ratio | MiB |
|---|---|---|---|---|---|---|---|---|
| download, nginx | h2load | 90.0 | 0.40 | 80.0 | 0.40 | 900 | 2.00 |  |
| download, relay | Apus | 90.0 | 0.80 | 80.0 | 0.80 | 90 | 0.99 | 20.1 |
"""


class HTTP2(unittest.TestCase):
    def test_rows_of_several_tables_are_found_by_their_first_cells(self):
        found = program("http2").rows(TABLES)
        self.assertEqual(found["object, 152 B", "64", "Apus"]["writes"], "0.30")
        self.assertEqual(found["download, nginx", "h2load"]["speed ratio"], "2.00")
        self.assertEqual(len(found), 3)

    def test_goals_are_upper_or_lower_bounds_and_rows_that_were_not_measured_are_left_out(self):
        self.assertEqual(
            program("http2").verdicts(TABLES).splitlines()[2:],
            ["| CPU time of a call, 152 B, 64 in flight | 0.39 | ≤ 0.4 | met |",
             "| writes of a call, 152 B, 64 in flight | 0.30 | ≤ 0.2 | **missed** |",
             "| speed of a download of 100 MiB, 20 ms away | 0.99 | ≥ 1 | **missed** |",
             "| its peak memory above a small call, MiB | 20.10 | ≤ 24 | met |"])


if __name__ == "__main__":
    unittest.main()
