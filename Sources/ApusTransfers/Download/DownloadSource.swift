#if Transfers
import ApusCore
import Crypto
import HTTPTypes

/// The identity of the resource that a download reads.
struct DownloadSource: Hashable, Sendable {
  /// The URL without query.
  let url: String
  /// The SHA-256 hash of the method and the complete URL, in hexadecimal digits. The URL itself is not stored, because
  /// its query may be a secret, such as the signature of a presigned URL.
  let hash: String

  /// - Parameter name: takes the place of method and URL. Default: `nil`.
  init(_ message: RequestMessage, name: String? = nil) {
    url = String(Substring(message.url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }))
    let identity = name.map { "name \($0)" } ?? "\(message.head.method.rawValue) \(message.url)"
    hash = Hexadecimal.text(SHA256.hash(data: Array(identity.utf8)))
  }
}
#endif
