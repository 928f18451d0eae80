import HTTPTypes
import NIOCore

@testable import ApusNIO

extension FrameWriter {
  /// The fields that HTTP/2 forbids (RFC 9113 §8.2.2).
  private static let connectionFields: Set = [
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
  ]

  /// Writes the server's connection preface (RFC 9113 §3.4).
  mutating func writeServerPreface(_ settings: [Setting], windowIncrement: UInt32) {
    FrameHeader(length: 6 * settings.count, type: .settings).write(into: &buffer)
    for setting in settings { buffer.writeMultipleIntegers(setting.identifier.rawValue, setting.value) }
    writeWindowUpdate(0, increment: windowIncrement)
  }

  /// Writes a field section. All fields are literals that are not indexed.
  ///
  /// - Parameter status: the status; `nil` for trailers.
  mutating func writeFields(_ fields: HTTPFields, status: Int?, _ stream: StreamID, isLast: Bool) {
    let pseudoFields = status.map { [(":status", Array("\($0)".utf8))] } ?? []
    let lines = fields.filter { !Self.connectionFields.contains($0.name.canonicalName) }.map { field in
      (field.name.canonicalName, field.withUnsafeBytesOfValue { Array($0) })
    }
    // `encode` throws nothing.
    try? writeHead(stream, isLast: isLast) { (buffer: inout ByteBuffer) throws(FramingError) in
      for (name, value) in pseudoFields + lines { Self.write(name, value, into: &buffer) }
    }
  }

  /// Writes a literal field that is not indexed (RFC 7541 §6.2.2).
  static func write(_ name: String, _ value: [UInt8], into buffer: inout ByteBuffer) {
    let limit = BlockWriter.limit(nameCount: name.utf8.count, valueCount: value.count)
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: limit) { memory in
      var writer = BlockWriter(memory)
      writer.write(0, prefix: 4, pattern: 0)
      Array(name.utf8).withUnsafeBytes { writer.write($0) }
      value.withUnsafeBytes { writer.write($0) }
      return writer.count
    }
  }
}
