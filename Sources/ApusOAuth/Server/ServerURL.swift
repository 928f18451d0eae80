import ApusCore

/// A URL of an authorization server that may be used: https, or http on this machine.
struct ServerURL: Hashable, Sendable {
  /// The URL in ASCII characters only, because people may read it.
  let text: String
  let origin: Origin

  /// - Parameters:
  ///   - text: the URL.
  ///   - step: the step that needs it.
  ///   - name: the name of the URL, for the error.
  init(_ text: String, for step: OAuthError.Step, _ name: String) throws(OAuthError) {
    let url: URLReference
    do {
      url = try URLReference(text.utf8, relativeTo: nil)
    } catch {
      throw OAuthError(step, .invalidMetadata, "the \(name) \(error.reason)")
    }
    guard url.origin.scheme == "https" || url.origin.isThisMachine else {
      throw OAuthError(step, .insecureURL, "the \(name) must be https")
    }
    guard !text.utf8.contains(UInt8(ascii: "#")) else {
      throw OAuthError(step, .invalidMetadata, "the \(name) has a fragment")
    }
    origin = url.origin
    self.text = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? text : "\(url.origin)\(url.target)"
  }
}
