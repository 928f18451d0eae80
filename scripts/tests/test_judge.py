"""The judge of the decoder: forbidden and discouraged responses of RFC 9112."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))

import judge  # noqa: E402

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def read(stream, method=judge.GET, announced=True):
    try:
        return judge.Reader(stream, method, announced).read()
    except judge.Refused:
        return None


class Reading(unittest.TestCase):
    def test_content_ends_by_its_framing(self):
        self.assertEqual(read(OK + b"Content-Length: 5\r\n\r\nhello").content, b"hello")
        chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n5;a=\"b;\"\r\nhello\r\n0\r\nX: y\r\n\r\n"
        self.assertEqual((read(chunked).content, read(chunked).trailers), (b"hello", [(b"X", b"y")]))
        self.assertEqual(read(OK + b"\r\nhello").framing, "close")
        self.assertEqual(read(OK + b"Content-Length: 5\r\n\r\n", judge.HEAD).framing, "none")

    def test_forbidden_streams_are_refused(self):
        for stream in (
                b"", OK, b"HTTP/1.1  200 OK\r\n\r\n", b"HTTP/2.0 200 OK\r\n\r\n", b"HTTP/1.1 101 Switching\r\n\r\n",
                OK + b"A : b\r\n\r\n", OK + b" A: b\r\n\r\n", OK + b"A: b\0\r\n\r\n", OK + b"A: b\rc\r\n\r\n",
                OK + b"Content-Length: 5\r\n\r\nhell", OK + b"Content-Length: +5\r\n\r\nhello",
                OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
                OK + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
                b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                CHUNKED, CHUNKED + b"0\n\r\n", CHUNKED + b"5 \r\nhello\r\n0\r\n\r\n",
                CHUNKED + b"5\r\nhello!\r\n0\r\n\r\n"):
            self.assertIsNone(read(stream), stream)
        self.assertIsNone(read(OK + b"\r\nhello", announced=False))

    def test_discouraged_streams_are_noted(self):
        for stream, note in (
                (b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "no-reason-space"), (OK + b"A: b\n\r\n", "bare-lf"),
                (OK + b"A: b\r\n c\r\n\r\n", "folded-field"), (OK + b"Transfer-Encoding: gzip\r\n\r\n", "other-coding"),
                (OK + b"Transfer-Encoding: chunked,\r\n\r\n0\r\n\r\n", "coding-list"),
                (OK + b"Transfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n0\r\n\r\n", "both-framings"),
                (OK + b"Content-Length: 1, 1\r\n\r\nx", "repeated-length"),
                (b"HTTP/1.1 204 No\r\nContent-Length: x\r\n\r\n", "unused-length"),
                (b"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", "doubtful-204"),
                (b"HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n", "status-below-100")):
            self.assertIn(note, read(stream).notes, stream)


class Judging(unittest.TestCase):
    def judged(self, verdict, stream):
        return judge.differences(verdict, stream, judge.GET, True)

    def test_agreement_is_no_difference(self):
        stream = OK + b"A: b\r\nContent-Length: 2\r\n\r\nhi"
        self.assertEqual(self.judged(read(stream).rendered(), stream), (set(), None))
        self.assertEqual(self.judged(b"refused malformedStatusLine", b"nothing"), (set(), None))

    def test_an_explained_refusal_has_its_name(self):
        self.assertEqual(self.judged(b"refused malformedLineEnd", OK + b"A: b\n\r\n"), ({"bare-lf"}, None))

    def test_any_other_difference_is_reported(self):
        stream = OK + b"A: b\r\nContent-Length: 2\r\n\r\nhi"
        rendered = read(stream).rendered()
        for verdict in (b"refused truncated", rendered.replace(b"hi", b"ho"), rendered.replace(b"reuse 1", b"reuse 0"),
                        rendered.replace(b"A: b", b"A: c")):
            self.assertIsNotNone(self.judged(verdict, stream)[1], verdict)
        for stream in (OK + b"A: b\n\r\n", OK + b"A: b\0\r\n\r\n"):
            self.assertIsNotNone(self.judged(rendered, stream)[1], stream)


if __name__ == "__main__":
    unittest.main()
