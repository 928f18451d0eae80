#!/usr/bin/env python3
"""Decodes and encodes field blocks (RFC 7541) with the package hpack, as an oracle for Tests/HTTP2Oracles.

Reads records from standard input to its end, then writes the results to standard output. All integers are big-endian,
of 32 bits unless stated otherwise. A record is one byte for its kind, the length of its payload, and the payload:

    n  a new connection; its dynamic tables have the size in the payload
    s  SETTINGS_HEADER_TABLE_SIZE; the payload is the size
    d  a field block to decode
    e  a field block to encode; the payload is one byte, 1 for Huffman coding, and a list of fields

The result of `d` is the byte 1 and a list of fields, or the byte 0, the length of a reason, and the reason; the
result of `e` is the length of a block, and the block. A list is the number of fields, and for each field one byte, 1 if
it is never indexed, the lengths of its name and its value, the name and the value.
"""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".build-servers", "pypi"))

import hpack  # noqa: E402


class Connection:
    def __init__(self, size):
        self.decoder = hpack.Decoder(max_header_list_size=1 << 30)
        self.decoder.max_allowed_table_size = self.decoder.header_table_size = size
        self.encoder = hpack.Encoder()
        self.encoder.header_table.maxsize = size

    def set_table_size(self, size):
        self.decoder.max_allowed_table_size = size
        # If a size is set twice, hpack 4.2.0 does not announce it.
        if size != self.encoder.header_table_size:
            self.encoder.header_table_size = size

    def decode(self, block):
        try:
            fields = self.decoder.decode(block, raw=True)
        except hpack.HPACKError as error:
            reason = type(error).__name__.encode()
            return struct.pack(">BI", 0, len(reason)) + reason
        parts = [struct.pack(">BI", 1, len(fields))]
        for field in fields:
            name, value = bytes(field[0]), bytes(field[1])
            parts.append(struct.pack(">BII", not field.indexable, len(name), len(value)) + name + value)
        return b"".join(parts)

    def encode(self, payload):
        huffman, count = struct.unpack_from(">BI", payload)
        fields, at = [], 5
        for _ in range(count):
            sensitive, name, value = struct.unpack_from(">BII", payload, at)
            at += 9
            kind = hpack.NeverIndexedHeaderTuple if sensitive else hpack.HeaderTuple
            fields.append(kind(payload[at:at + name], payload[at + name:at + name + value]))
            at += name + value
        block = self.encoder.encode(fields, huffman=bool(huffman))
        return struct.pack(">I", len(block)) + block


def main():
    records = sys.stdin.buffer.read()
    connection, results, at = None, [], 0
    while at < len(records):
        kind, length = struct.unpack_from(">cI", records, at)
        payload = records[at + 5:at + 5 + length]
        at += 5 + length
        if kind == b"n":
            connection = Connection(*struct.unpack(">I", payload))
        elif kind == b"s":
            connection.set_table_size(*struct.unpack(">I", payload))
        elif kind == b"d":
            results.append(connection.decode(payload))
        else:
            results.append(connection.encode(payload))
    sys.stdout.buffer.write(b"".join(results))


if __name__ == "__main__":
    main()
