import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def program(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), os.path.join(FOLDER, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


s3_upload = program("s3-upload")


class RoundsTests(unittest.TestCase):
    def test_alternates_the_order_and_does_not_count_the_first_round(self):
        order = []
        costs = s3_upload.rounds(2, ["a", "b"], lambda contender: order.append(contender) or len(order))
        self.assertEqual(order, ["b", "a", "a", "b", "b", "a"])
        self.assertEqual(costs, {"a": [3, 6], "b": [4, 5]})


class TableTests(unittest.TestCase):
    def test_divides_the_speeds_of_the_same_round(self):
        def cost(transfer, seconds):
            return {"transfer": transfer, "seconds": seconds, "processor": 1.5, "peak": 30.2}

        costs = {s3_upload.APUS: [cost(1, 2), cost(2, 4), cost(4, 4)],
                 s3_upload.AWS: [cost(3, 4), cost(4, 4), cost(4, 6)]}
        rows = list(s3_upload.table("1 MiB to a server", costs, 100))
        self.assertEqual(rows[2], f"| {s3_upload.APUS} | 50 [25, 100] |  | 25 [25, 50] |  | 1.50 | 30 |")
        self.assertEqual(
            rows[3],
            f"| {s3_upload.AWS} | 25 [25, 33] | 2.00 [1.00, 3.00] | 25 [17, 25] | 1.50 [1.00, 2.00] | 1.50 | 30 |")


class ServerTests(unittest.TestCase):
    def test_names_a_server_that_is_not_installed(self):
        command = [sys.executable, "-c", "print('failed weed is not installed')"]
        with self.assertRaisesRegex(s3_upload.Missing, "^weed is not installed$"):
            s3_upload.Server(command, int)

    def test_gives_the_reason_of_a_server_that_does_not_start(self):
        with self.assertRaisesRegex(s3_upload.Problem, "^no port$"):
            s3_upload.Server([sys.executable, "-c", "print('failed no port')"], int)


class MeasuredTests(unittest.TestCase):
    def test_counts_the_memory_and_the_time_of_the_process(self):
        text, cost = s3_upload.measured([sys.executable, "-c", "x = b'1' * (80 << 20); print('done')"])
        self.assertEqual(text, "done\n")
        self.assertGreater(cost["peak"], 80)
        self.assertGreater(cost["seconds"], 0)

    def test_fails_with_what_a_failed_command_prints(self):
        with self.assertRaisesRegex(s3_upload.Problem, "no such object"):
            s3_upload.measured([sys.executable, "-c", "import sys; sys.exit('no such object')"])


class FileTests(unittest.TestCase):
    def test_writes_exactly_the_size(self):
        with tempfile.TemporaryDirectory() as folder:
            path = s3_upload.write_file(folder, 3)
            self.assertEqual(os.path.getsize(path), 3 << 20)


if __name__ == "__main__":
    unittest.main()
