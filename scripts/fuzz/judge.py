#!/usr/bin/env python3
"""Checks a decoder of HTTP/1.1 responses against an independent parser of RFC 9112 and against Python's http.client.

Standard input contains records: seed (8 bytes), method (1: 0 GET, 1 HEAD, 2 CONNECT), end (1: 1 when TLS announced it),
the lengths of verdict and stream (4 each), all big-endian; then the decoder's verdict and the bytes of the stream,
after which the connection ended. A verdict is the text of an accepted response as `rendered` writes it, or `refused`
and the kind of the fault.

Standard output, at the end, is one JSON object: the number of records, the number of accepted responses, how often each
explained difference occurred, and the first unexplained differences. docs/conformance.md explains the differences,
which SWIFT_REFUSES, SWIFT_ACCEPTS and OTHERS name.
"""

import http.client
import io
import json
import re
import struct
import sys

GET, HEAD, CONNECT = range(3)

# Input that RFC 9112 lets a recipient accept and that the decoder refuses, with the kinds of faults it may report.
LENGTH_FAULTS = {"malformedContentLength", "conflictingContentLength"}
SWIFT_REFUSES = {
    "bare-lf": {"malformedLineEnd"},
    "folded-field": {"foldedField"},
    "other-coding": {"malformedTransferEncoding"},
    "coding-list": {"malformedTransferEncoding"},
    "both-framings": {"lengthAndTransferEncoding"} | LENGTH_FAULTS,
    "unused-length": LENGTH_FAULTS,
    "unused-coding": {"malformedTransferEncoding"},
    "trailer-framing": {"malformedTransferEncoding"} | LENGTH_FAULTS,
    "huge-length": {"malformedContentLength"},
    "huge-chunk": {"malformedChunkSize"},
    "status-below-100": {"malformedStatusLine"},
    "limits": {"fieldsTooLarge", "tooManyFields", "tooManyInterimResponses", "chunkExtensionsTooLarge"},
}
# Input that the grammar forbids for senders, that a recipient may accept, and that the decoder accepts.
SWIFT_ACCEPTS = {"no-reason-space", "repeated-length"}
# Differences in accepted responses: reuse of the connection, trailers, and where http.client parses differently.
OTHERS = {"doubtful-204", "python-interim", "python-tunnel", "python-length-list",
          "python-coding-space", "python-unused-coding", "python-limits"}

LIMIT_BYTES, LIMIT_FIELDS, LIMIT_INTERIM, LIMIT_CHUNK_LINE, LIMIT_OVERHEAD = 256 << 10, 1000, 64, 4 << 10, 16 << 10
LARGEST = 2 ** 63 - 1

TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
TEXT = rb"[\t \x21-\x7e\x80-\xff]*"  # field-vchar, SP, HTAB; RFC 9110 §5.5
QUOTED = rb'"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*"'
STATUS_LINE = re.compile(rb"HTTP/([0-9])\.([0-9]) ([0-9]{3})(?: (" + TEXT + rb"))?")
FIELD_LINE = re.compile(rb"(" + TOKEN + rb"):(" + TEXT + rb")")
FOLD = re.compile(rb"[ \t]" + TEXT)
CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]+)(?:[ \t]*;[ \t]*" + TOKEN + rb"(?:[ \t]*=[ \t]*(?:" + TOKEN + rb"|" + QUOTED
                        + rb"))?)*")
CODING = re.compile(TOKEN + rb"(?:[ \t]*;[ \t]*" + TOKEN + rb"[ \t]*=[ \t]*(?:" + TOKEN + rb"|" + QUOTED + rb"))*")
DIGITS = re.compile(rb"[0-9]+")


class Refused(Exception):
    """The stream is not a valid response."""


class Message:
    """A response parsed by RFC 9112, with the leniencies that it needed."""

    def __init__(self):
        self.notes = set()
        self.interim = []
        self.status, self.minor, self.reason = 0, 1, b""
        self.fields, self.trailers = [], []
        self.framing, self.content = "", b""
        self.persists = self.surplus = False

    def rendered(self):
        reuse = self.persists and not self.surplus and "doubtful-204" not in self.notes
        lines = [b"accepted", b"interim " + ",".join(map(str, self.interim)).encode(), b"status %d" % self.status,
                 b"reason " + text(self.reason), b"framing " + self.framing.encode(), b"reuse %d" % reuse]
        lines += [b"field " + name + b": " + value for name, value in self.fields]
        lines += [b"trailer " + name + b": " + value for name, value in self.trailers]
        return b"\n".join(lines) + b"\n\n" + self.content


def text(reason):
    """The reason phrase as UTF-8, or as Latin-1 if it is not valid UTF-8."""
    try:
        reason.decode()
        return reason
    except UnicodeDecodeError:
        return reason.decode("latin-1").encode()


def is_plain_framing(fields):
    """Whether the framing fields, if any, are one length or `chunked`."""
    lengths = [it.strip(b" \t") for name, value in fields if name.lower() == b"content-length"
               for it in value.split(b",")]
    codings = [value.lower() for name, value in fields if name.lower() == b"transfer-encoding"]
    return (all(DIGITS.fullmatch(it) and int(it) <= LARGEST for it in lengths) and len(set(map(int, lengths))) < 2
            and codings in ([], [b"chunked"]))


class Reader:
    def __init__(self, stream, method, announced):
        self.stream, self.method, self.announced = stream, method, announced
        self.at = 0
        self.line_bytes = self.lines = 0
        self.message = Message()

    # Lines, RFC 9112 §2.2

    def line(self):
        """The next line of a head or of trailers; it may end with a bare LF."""
        end = self.stream.find(b"\n", self.at)
        if end < 0:
            raise Refused("truncated in a line")
        start, self.at = self.at, end + 1
        self.line_bytes += end + 1 - start
        if end > start and self.stream[end - 1] == 13:
            return self.stream[start:end - 1]
        self.message.notes.add("bare-lf")
        return self.stream[start:end]

    def section(self):
        """The field lines up to the empty line, RFC 9112 §5."""
        fields = []
        while line := self.line():
            self.lines += 1
            if line[0] in b" \t":
                # §2.2: no white space between the start line and the first field; §5.2: elsewhere a fold.
                if not fields or FOLD.fullmatch(line) is None:
                    raise Refused("white space before a field")
                self.message.notes.add("folded-field")
                name, value = fields[-1]
                fields[-1] = (name, (value + b" " + line.strip(b" \t")).strip(b" \t"))
                continue
            match = FIELD_LINE.fullmatch(line)
            if match is None:
                raise Refused("a field line is malformed")
            fields.append((match[1], match[2].strip(b" \t")))
        return fields

    # Heads, RFC 9112 §4, §6.3

    def read(self):
        message = self.message
        while True:
            match = STATUS_LINE.fullmatch(self.line())
            if match is None or match[1] != b"1":
                raise Refused("the status line is malformed")
            message.minor, message.status, message.reason = int(match[2]), int(match[3]), match[4] or b""
            if match[4] is None:
                message.notes.add("no-reason-space")
            if message.status < 100:
                message.notes.add("status-below-100")
            message.fields = self.section()
            if not 100 <= message.status < 200:
                break
            if message.status == 101:
                raise Refused("nobody asked for another protocol")
            self.codings(self.values(b"transfer-encoding"), is_used=False)
            self.lengths(is_used=False)
            message.interim.append(message.status)
        self.frame()
        self.check_limits()
        return message

    def values(self, name):
        return [value for other, value in self.message.fields if other.lower() == name]

    def codings(self, values, is_used):
        """The transfer codings as a list in lower case, or None; RFC 9112 §6.1, §7."""
        if not values:
            return None
        if self.message.minor == 0:
            raise Refused("a transfer coding in HTTP/1.0")
        elements = [it.strip(b" \t") for it in b",".join(values).split(b",")]
        codings = [it.lower() for it in elements if it]
        if not is_used:
            if codings != [b"chunked"] or len(elements) > 1:
                self.message.notes.add("unused-coding")
            return codings
        if len(elements) > len(codings):
            self.message.notes.add("coding-list")
        if any(CODING.fullmatch(it) is None for it in codings):
            raise Refused("a transfer coding is malformed")
        if codings.count(b"chunked") > 1 or any(it.startswith(b"chunked") and it != b"chunked" for it in codings):
            raise Refused("chunked is applied twice, or has parameters")
        if codings != [b"chunked"]:
            self.message.notes.add("other-coding")
        return codings

    def lengths(self, is_used):
        """The one length that all fields agree on, or None; RFC 9112 §6.3, RFC 9110 §8.6."""
        values = self.values(b"content-length")
        if not values:
            return None
        if self.values(b"transfer-encoding"):
            self.message.notes.add("both-framings")
        elements = [it.strip(b" \t") for value in values for it in value.split(b",")]
        if any(DIGITS.fullmatch(it) is None for it in elements) or len({int(it) for it in elements}) > 1:
            if is_used:
                raise Refused("the length is malformed")
            self.message.notes.add("unused-length")
            return None
        length = int(elements[0])
        if length > LARGEST:
            self.message.notes.add("huge-length")
        if len(elements) > 1:
            self.message.notes.add("repeated-length")
            self.one_length(values[0] if b"," not in values[0] else b"%d" % length)
        return length

    def one_length(self, value):
        """Several fields that agree count as one: RFC 9112 §6.3, item 5."""
        fields, is_first = [], True
        for name, old in self.message.fields:
            if name.lower() != b"content-length":
                fields.append((name, old))
            elif is_first:
                fields.append((name, value))
                is_first = False
        self.message.fields = fields

    def frame(self):
        message = self.message
        status, notes = message.status, message.notes
        is_tunnel = self.method == CONNECT and 200 <= status < 300
        if is_tunnel:  # §6.3, item 2: its framing fields are ignored
            return self.finish("none", b"", persists=False)
        has_content = not (self.method == HEAD or status in (204, 304))
        codings = self.codings(self.values(b"transfer-encoding"), is_used=has_content)
        length = self.lengths(is_used=has_content and not codings)
        persists = self.may_persist()
        if not has_content:
            if status == 204 and (codings is not None or (length or 0) > 0) and persists:
                notes.add("doubtful-204")
            return self.finish("none", b"", persists)
        if codings:
            if codings[-1] == b"chunked":
                content = self.chunks()
                return self.finish("chunked", content, persists)
            return self.until_close()
        if length is None:
            return self.until_close()
        if len(self.stream) - self.at < length:
            raise Refused("truncated in the content")
        self.at += length
        return self.finish("length %d" % length, self.stream[self.at - length:self.at], persists)

    def until_close(self):
        if not self.announced:
            raise Refused("truncated perhaps: TLS announced no end")
        content, self.at = self.stream[self.at:], len(self.stream)
        self.finish("close", content, persists=False)

    def may_persist(self):
        """RFC 9112 §9.3."""
        options = {it.strip(b" \t").lower() for value in self.values(b"connection") for it in value.split(b",")}
        return b"close" not in options and (self.message.minor > 0 or b"keep-alive" in options)

    def finish(self, framing, content, persists):
        message = self.message
        message.framing, message.content, message.persists = framing, content, persists
        message.surplus = self.at < len(self.stream)

    # Chunks, RFC 9112 §7.1

    def chunks(self):
        pieces, overhead = [], 0
        while True:
            end = self.stream.find(b"\n", self.at)
            match = CHUNK_LINE.fullmatch(self.stream[self.at:end - 1]) if end > self.at else None
            if match is None or self.stream[end - 1] != 13:
                raise Refused("the line of a chunk is malformed")
            if end - self.at > LIMIT_CHUNK_LINE:
                self.message.notes.add("limits")
            size = int(match[1], 16)
            if size > LARGEST or len(match[1]) > 16:
                self.message.notes.add("huge-chunk")
            overhead = max(0, overhead + end + 1 - self.at - 16 - 2 * size)
            if overhead > LIMIT_OVERHEAD:
                self.message.notes.add("limits")
            self.at = end + 1
            if size == 0:
                break
            content = self.stream[self.at:self.at + size]
            if len(content) < size or self.stream[self.at + size:self.at + size + 2] != b"\r\n":
                raise Refused("a chunk does not end where it said")
            pieces.append(content)
            self.at += size + 2
        trailers = self.section()
        if not is_plain_framing(trailers):
            self.message.notes.add("trailer-framing")
        self.message.trailers = trailers
        return b"".join(pieces)

    def check_limits(self):
        if self.line_bytes > LIMIT_BYTES or self.lines > LIMIT_FIELDS or len(self.message.interim) > LIMIT_INTERIM:
            self.message.notes.add("limits")


# MARK: http.client

class Socket:
    def __init__(self, stream):
        self.stream = stream

    def makefile(self, _):
        return io.BytesIO(self.stream)


def python_differs(message, stream, method):
    """Why http.client parses another response: the name of an explained difference, a sentence, or None."""
    if method == CONNECT and message.status // 100 == 2:
        return "python-tunnel"  # it does not handle tunnels here
    if any(status != 100 for status in message.interim):
        return "python-interim"  # it skips only 100, and takes other interim responses as final
    if message.framing == "chunked" and any(
            name.lower() == b"transfer-encoding" and value != value.rstrip(b" \t")
            for name, value in raw_fields(stream)):
        return "python-coding-space"  # white space behind `chunked` makes it another coding for it
    if message.status in (204, 304) and method != HEAD and any(
            name.lower() == b"transfer-encoding" for name, _ in message.fields):
        return "python-unused-coding"  # it reads chunks of a response without content
    if message.framing.startswith("length") and "repeated-length" in message.notes:
        return "python-length-list"  # it ignores a list of lengths
    if len(message.fields) >= 100 or len(message.trailers) >= 100:
        return "python-limits"  # it reads at most a hundred fields
    response = http.client.HTTPResponse(Socket(stream), method="HEAD" if method == HEAD else "GET")
    try:
        response.begin()
        content = response.read()
    except (http.client.HTTPException, ValueError, OverflowError) as error:
        return f"http.client refuses: {error!r}"
    fields = [(name.encode("latin-1"), value.strip(" \t").encode("latin-1"))
              for name, value in response.getheaders()]
    ours = [(name, value) for name, value in message.fields]
    if "repeated-length" in message.notes:
        ours = [it for it in ours if it[0].lower() != b"content-length"]
        fields = [it for it in fields if it[0].lower() != b"content-length"]
    if response.status != message.status:
        return f"http.client reads the status {response.status}"
    if content != message.content:
        return f"http.client reads other content: {content!r}"
    if fields != ours:
        return f"http.client reads other fields: {fields!r}"
    return None


def raw_fields(stream):
    """The last head's field lines with the white space behind values, which http.client keeps."""
    for line in stream.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if colon:
            yield name, value


# MARK: verdicts

def differences(verdict, stream, method, announced):
    """The names of explained differences, and a sentence about an unexplained one, or None."""
    refusal = verdict[len(b"refused "):].decode() if verdict.startswith(b"refused ") else None
    reader = Reader(stream, method, announced)
    try:
        message = reader.read()
    except Refused as reason:
        return set(), None if refusal is not None else f"accepted, which RFC 9112 forbids: {reason}"
    refusable = message.notes & SWIFT_REFUSES.keys()
    if refusal is not None:
        found = {name for name in refusable if refusal in SWIFT_REFUSES[name]}
        return found, None if found else f"refused as {refusal}, accepted by RFC 9112 with {sorted(message.notes)}"
    if refusable:
        return set(), f"accepted in spite of {sorted(refusable)}"
    expected = message.rendered()
    if method == CONNECT:  # unused lengths may be repeated
        verdict, expected = (re.sub(rb"(?i)\nfield content-length: .*", b"", it) for it in (verdict, expected))
    if verdict != expected:
        return set(), f"read as {verdict!r}, by RFC 9112 {expected!r}"
    found = message.notes & (SWIFT_ACCEPTS | OTHERS)
    python = python_differs(message, stream, method)
    if python is None or python in OTHERS:
        return found | ({python} - {None}), None
    return found, python


def main():
    source, header = sys.stdin.buffer, struct.Struct(">QBBII")
    count = accepted = 0
    explained, unexplained = {}, []
    while len(head := source.read(header.size)) == header.size:
        seed, method, announced, verdict_length, stream_length = header.unpack(head)
        verdict, stream = source.read(verdict_length), source.read(stream_length)
        count += 1
        accepted += verdict.startswith(b"accepted")
        names, problem = differences(verdict, stream, method, announced == 1)
        for name in names:
            explained[name] = explained.get(name, 0) + 1
        if problem is not None and len(unexplained) < 10:
            unexplained.append(f"seed {seed}: {problem}; method {method}, end {announced}, bytes {stream.hex()}")
    json.dump({"count": count, "accepted": accepted, "explained": explained, "unexplained": unexplained}, sys.stdout)


if __name__ == "__main__":
    main()
