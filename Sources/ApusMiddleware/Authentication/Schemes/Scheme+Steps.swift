import ApusCore
import HTTPTypes

extension Credential {
  /// A token of visible ASCII characters. RFC 6750 §2.1 allows fewer, but servers hand out tokens with `|` and `:`.
  func checkedToken() throws -> String {
    guard let token else { throw TransportError.unusable("a name and a password need basic authentication") }
    guard !token.value.isEmpty else { throw TransportError.unusable("the token is empty") }
    guard token.value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw TransportError.unusable("the token holds a character that is not allowed")
    }
    return token.value
  }
}

extension TransportError {
  /// Credentials that cannot be shown.
  static func unusable(_ detail: String, underlying: (any Error)? = nil) -> TransportError {
    TransportError(.unsupported, requestState: .notSent, detail: detail, underlying: underlying)
  }
}

extension RequestMessage {
  /// Adds checked credentials, marked so that no intermediary stores them and no text shows them.
  mutating func authorize(by scheme: String, _ value: String) {
    var field = HTTPField(name: .authorization, value: "\(scheme) \(value)")
    field.indexingStrategy = .disallow
    head.headerFields.append(field)
  }
}
