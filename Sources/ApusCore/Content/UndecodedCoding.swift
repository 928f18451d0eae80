import ApusJSON
package import HTTPTypes

/// The content codings (RFC 9110 §8.4) that the transport has left in a response: unknown codings, or the codings of a
/// call that sets `Accept-Encoding` itself.
///
/// Some servers put a different word into the field, for example a charset, and send plain content. So content is
/// decoded as if the field were not there, and only errors name the coding. Content whose coding is registered is not
/// read in formats that accept any bytes.
struct UndecodedCoding: Sendable, Hashable {
  /// The names, safe to log.
  let names: String
  /// Whether one of the codings is registered, so that the bytes do not have the format of the media type.
  let isRegistered: Bool

  /// Creates the codings of a response; `nil` if there are none.
  init?(_ fields: HTTPFields) {
    let names = fields.contentCodings.filter { $0 != "identity" }
    guard !names.isEmpty else { return nil }
    let shown = names.prefix(Self.mostNames)
    self.names = shown.allSatisfy(Self.isLoggable) ? shown.joined(separator: ", ") : "an unknown one"
    isRegistered = names.contains { Self.registered.contains($0) }
  }

  /// The reason why content in these codings cannot be read.
  var detail: String { "the content has the content coding \(names), which was not decoded" }

  /// Returns the reason why reading failed with an error.
  ///
  /// - Parameter reason: the loggable part of the error.
  func detail(because error: any Error, _ reason: String) -> String {
    // Coded bytes are never valid JSON.
    if error is JSONError || reason == detail { return detail }
    // The content was readable, so the field is wrong.
    if error is DecodingError, !isRegistered { return reason }
    return "\(detail) (\(reason))"
  }

  private static let mostNames = 5

  /// Whether a name is a short token of letters, digits and signs (RFC 9110 §5.6.2).
  private static func isLoggable(_ name: String) -> Bool {
    name.utf8.count <= 40
      && name.utf8.allSatisfy { $0.isLetterOrDigit || "-_.+".utf8.contains($0) }
  }

  /// The codings of the HTTP Content Coding Registry, apart from `identity`.
  private static let registered: Set<String> = [
    "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip",
    "zstd",
  ]
}

extension HTTPFields {
  /// The elements of the `Content-Encoding` fields in the order in which the codings were applied (RFC 9110 §8.4), in
  /// lower case.
  package var contentCodings: [String] {
    guard contains(.contentEncoding) else { return [] }
    return self[values: .contentEncoding].flatMap { value in
      value.utf8.split(separator: UInt8(ascii: ",")).compactMap { element in
        let name = Substring(element.trimmed)
        return name.isEmpty ? nil : name.lowercased()
      }
    }
  }
}
