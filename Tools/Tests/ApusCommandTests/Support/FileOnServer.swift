import ApusTestServer

/// A file on a server that supports ranges.
struct FileOnServer: Sendable {
  /// The length in bytes: more than a download gathers in memory before it writes.
  var length = 1_000_000
  var tag = #""v1""#
  /// Further fields (headers) of the response with the complete file.
  var fields: FieldLines = [:]

  var bytes: [UInt8] { generatedBytes(length) }

  /// Returns the response to a request (RFC 9110 §14).
  func reply(to request: RecordedRequest) -> Reply {
    guard let range = request.field("Range"), request.field("If-Range") == tag,
      let start = Int(range.dropFirst("bytes=".count).prefix { $0 != "-" })
    else {
      var fields = fields
      fields["ETag"] = tag
      return .generated(length, fields: fields)
    }
    let fields: FieldLines = [
      "ETag": tag, "Content-Range": "bytes \(start)-\(length - 1)/\(length)",
    ]
    return .generated(start..<length, status: 206, fields: fields)
  }
}

/// Returns the bytes of `Reply.generated(length)`.
func generatedBytes(_ length: Int) -> [UInt8] {
  let unit = [UInt8](0...250)
  var bytes: [UInt8] = []
  while bytes.count < length { bytes += unit }
  return Array(bytes.prefix(length))
}
