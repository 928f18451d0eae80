import HTTPTypes
import NIOCore
import TestSupport

@testable import ApusNIO

/// A receiver that keeps all fields of a field block, including the pseudo-header fields.
struct CodedLines: FieldReceiver, Equatable {
  var lines: [String] = []

  mutating func take(_ field: HTTPField, _ facts: FieldFacts) {
    lines.append("\(field.name.rawName): \(field.value)")
  }
}

extension FieldDecoder {
  /// Decodes a field block from memory of exactly its size and returns its fields as lines.
  mutating func lines(_ block: [UInt8]) throws -> [String] {
    var lines = CodedLines()
    try withExactCopy(of: block) { try decode($0, into: &lines) }
    return lines.lines
  }

  /// Decodes the field block of a response.
  mutating func block(_ bytes: [UInt8], limits: FramingLimits = FramingLimits()) throws -> FieldBlock {
    var block = FieldBlock(limits: limits)
    try withExactCopy(of: bytes) { try decode($0, into: &block) }
    return block
  }
}

extension FieldEncoder {
  /// Returns the field block of a request.
  mutating func block(_ head: HTTPRequest, adding: HTTPFields = [:], framing: RequestFraming = .none) throws -> [UInt8]
  {
    var buffer = ByteBuffer()
    try encode(head, adding: adding, framing: framing, into: &buffer)
    return Array(buffer.readableBytesView)
  }
}

/// Returns the bytes that hexadecimal digits represent. Ignores spaces.
func bytes(_ hexadecimal: String) -> [UInt8] {
  let digits = Array(hexadecimal.utf8.filter { $0 != Octet.space })
  return stride(from: 0, to: digits.count - 1, by: 2).map {
    (Octet.hexadecimalValue(digits[$0]) ?? 0) << 4 | (Octet.hexadecimalValue(digits[$0 + 1]) ?? 0)
  }
}

func request(
  _ method: HTTPRequest.Method = .get, authority: String? = "example.com", path: String? = "/", fields: HTTPFields = [:]
) -> HTTPRequest {
  HTTPRequest(method: method, scheme: "https", authority: authority, path: path, headerFields: fields)
}

func request(scheme: String?, authority: String? = "example.com", fields: HTTPFields = [:]) -> HTTPRequest {
  HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/", headerFields: fields)
}

/// Returns a string literal of a field block, without Huffman coding.
func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }

func string(_ text: [UInt8]) -> [UInt8] {
  withUnsafeTemporaryAllocation(byteCount: text.count + 10, alignment: 1) { memory in
    var writer = BlockWriter(memory)
    writer.write(text.count, prefix: 7, pattern: 0)
    return Array(memory[..<writer.count]) + text
  }
}

/// Returns a literal field with a literal name: without indexing or, if `pattern` is 0x40, with incremental indexing.
func literal(_ name: String, _ value: String, pattern: UInt8 = 0) -> [UInt8] {
  [pattern] + string(name) + string(value)
}
