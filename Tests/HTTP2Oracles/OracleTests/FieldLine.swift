import HTTPTypes
import NIOCore

@testable import ApusNIO

/// A field of a field block.
struct FieldLine: Hashable, CustomStringConvertible {
  let name: [UInt8]
  let value: [UInt8]
  /// Whether the field is never indexed (RFC 7541 §6.2.3). Decoders that do not report it leave it `false`.
  var isSensitive = false

  init(_ name: some Sequence<UInt8>, _ value: some Sequence<UInt8>, isSensitive: Bool = false) {
    (self.name, self.value, self.isSensitive) = (Array(name), Array(value), isSensitive)
  }

  init(_ name: String, _ value: String) { self.init(name.utf8, value.utf8) }

  init(_ field: HTTPField) {
    let value = field.withUnsafeBytesOfValue { Array($0) }
    self.init(field.name.canonicalName.utf8, value)
  }

  /// The field of a decoder that does not report whether the field is never indexed.
  var plain: FieldLine { FieldLine(name, value) }

  var description: String {
    let text = "\(String(decoding: name, as: UTF8.self)): \(String(decoding: value.prefix(40), as: UTF8.self))"
    return "\(text) (\(value.count) bytes\(isSensitive ? ", sensitive" : ""))"
  }
}

/// A field that ``FieldDecoder`` has decoded.
struct DecodedField: Sendable {
  let line: FieldLine
  let facts: FieldFacts

  /// Whether another decoder has read the same field. Of a malformed field the decoder keeps only the sizes.
  func isSame(as other: FieldLine) -> Bool {
    guard Int(facts.nameCount) == other.name.count, Int(facts.valueCount) == other.value.count else { return false }
    return facts.broken != nil || line == other.plain
  }
}

/// A receiver that keeps all fields of a field block.
struct DecodedFields: FieldReceiver {
  private(set) var fields: [DecodedField] = []

  mutating func take(_ field: HTTPField, _ facts: FieldFacts) {
    fields.append(DecodedField(line: FieldLine(field), facts: facts))
  }
}

extension FieldDecoder {
  mutating func fields(_ block: [UInt8]) throws(CompressionFault) -> [DecodedField] {
    var receiver = DecodedFields()
    try ByteBuffer(bytes: block).withUnsafeReadableBytes { bytes throws(CompressionFault) in
      try decode(bytes, into: &receiver)
    }
    return receiver.fields
  }
}

func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
