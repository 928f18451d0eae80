import ApusCore
import Crypto
import HTTPTypes

/// The identity of the resource that a download reads.
struct DownloadSource: Hashable, Sendable {
  /// The URL without query.
  let url: String
  /// The SHA-256 hash of the method, the complete URL and the account, in hexadecimal digits. The URL itself is not
  /// stored, because its query may be a secret, such as the signature of a presigned URL.
  let hash: String

  /// - Parameter options: the options. Their resource name, if there is one, replaces method and URL in the hash.
  init(_ message: RequestMessage, _ options: DownloadOptions = DownloadOptions()) {
    url = String(Substring(message.url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }))
    let resource = options.resource.map { "name \($0)" } ?? "\(message.head.method.rawValue) \(message.url)"
    // Coded bytes belong to the same resource only for a call that accepts the content coding.
    let coding = message.head.headerFields[.acceptEncoding] ?? ""
    let account = options.account.map { "account \($0)" } ?? ""
    hash = Hexadecimal.hash(of: ["download", resource, coding, account], bytes: SHA256.byteCount)
  }
}
