/// The frames of a response, for any stream.
struct PreparedFrames {
  private var bytes: [UInt8] = []
  /// The offsets of the stream identifiers.
  private var identifiers: [Int] = []

  init(content: String) {
    append(type: 1, flags: 4, Self.fields(contentLength: content.utf8.count))
    append(type: 0, flags: 1, Array(content.utf8))
  }

  /// Appends the frames for the stream whose identifier starts at the first byte.
  func write(for identifier: ArraySlice<UInt8>, to output: inout [UInt8]) {
    let start = output.count
    output += bytes
    for offset in identifiers {
      for index in 0..<4 { output[start + offset + index] = identifier[identifier.startIndex + index] }
    }
  }

  private mutating func append(type: UInt8, flags: UInt8, _ payload: [UInt8]) {
    identifiers.append(bytes.count + 5)
    bytes += [0, UInt8(payload.count >> 8), UInt8(payload.count & 0xff), type, flags, 0, 0, 0, 0] + payload
  }

  /// Returns a field block (RFC 7541) with the status 200 and the fields of the HTTP/1.1 response, as nginx encodes
  /// them: literal, with names from the static table, not indexed.
  private static func fields(contentLength: Int) -> [UInt8] {
    let fields: [(index: UInt8, value: String)] = [
      (54, "x"), (33, "Sat, 28 Nov 2026 04:00:00 GMT"), (31, "application/json"), (28, "\(contentLength)"),
    ]
    return fields.reduce(into: [0x88]) { $0 += [0x0f, $1.index - 15, UInt8($1.value.utf8.count)] + $1.value.utf8 }
  }
}

/// The frames of a client, of which only the heads are read: a HEADERS frame is a request, a SETTINGS frame is
/// acknowledged, others are ignored.
struct FrameHeads {
  let response: PreparedFrames
  /// The bytes to send.
  var output: [UInt8] = []
  private var hasPreface = false

  init(response: PreparedFrames) {
    self.response = response
  }

  /// Takes all complete frames. Returns their number of bytes.
  mutating func take(_ bytes: ArraySlice<UInt8>) -> Int {
    var start = bytes.startIndex
    if !hasPreface {
      guard bytes.count >= 24 else { return 0 }
      hasPreface = true
      start += 24
    }
    while bytes.endIndex - start >= 9 {
      let length = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
      guard bytes.endIndex - start >= 9 + length else { break }
      switch (bytes[start + 3], bytes[start + 4] & 1) {
      case (1, _): response.write(for: bytes[(start + 5)..<(start + 9)], to: &output)
      case (4, 0): output += [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0]
      default: break
      }
      start += 9 + length
    }
    return start - bytes.startIndex
  }
}
