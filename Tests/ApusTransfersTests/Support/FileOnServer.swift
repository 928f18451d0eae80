import ApusCore
import ApusTesting
import Foundation
import HTTPTypes

/// A file on a server that supports ranges.
struct FileOnServer: Sendable {
  var bytes: Data
  var tag: String? = #""v1""#
  /// Further fields (headers) of every response.
  var fields = HTTPFields()
  /// The number of bytes of each piece of content (body).
  var pieceSize = 1000

  /// Creates a file whose bytes repeat with a period of 4093, so that shifted bytes differ.
  init(length: Int, seed: UInt8 = 0) {
    let block = Data((0..<4093).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) &+ seed })
    bytes = Data(capacity: length)
    while bytes.count < length { bytes.append(block.prefix(length - bytes.count)) }
  }

  /// Returns the response to a request, as RFC 9110 §14 requires.
  func reply(to fields: HTTPFields) -> StubReply {
    guard let range = fields[.range], fields[.ifRange] ?? tag == tag else { return whole() }
    let ends = range.dropFirst("bytes=".count).split(separator: "-").map { Int($0) }
    guard let start = ends.first ?? nil, start < bytes.count else { return unsatisfied() }
    let last = ends.count > 1 ? ends[1] : nil
    return part(from: start, to: last.map { min($0 + 1, bytes.count) })
  }

  func whole() -> StubReply { reply(200, bytes) }

  /// - Parameters:
  ///   - end: the offset after the part. Default: `nil`, the end of the file.
  ///   - stated: the value of `Content-Range`. Default: `nil`, the correct value.
  func part(from start: Int, to end: Int? = nil, stated: String? = nil) -> StubReply {
    let end = end ?? bytes.count
    return reply(206, bytes[start..<end], range: stated ?? "bytes \(start)-\(end - 1)/\(bytes.count)")
  }

  func unsatisfied() -> StubReply { reply(416, Data(), range: "bytes */\(bytes.count)") }

  private func reply(_ status: Int, _ content: Data, range: String? = nil) -> StubReply {
    var fields = fields
    fields[.eTag] = fields[.eTag] ?? tag
    fields[.contentRange] = range
    fields[.contentLength] = fields[.contentLength] ?? String(content.count)
    fields[.contentType] = fields[.contentType] ?? "video/mp4"
    let pieces = stride(from: content.startIndex, to: content.endIndex, by: pieceSize).map {
      content[$0..<min($0 + pieceSize, content.endIndex)]
    }
    return .pieces(pieces, status: status, fields: fields)
  }
}
