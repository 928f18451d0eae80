import ApusCore
import HTTPTypes

/// Which fields and parameters of a request must not reach another origin than the one they were meant for.
struct CredentialFields {
  /// The fields in which the environment's authentications show credentials, in lower case.
  var keyFields: Set<String> = []
  /// Names of query parameters that hold secrets.
  var parameters: Set<String> = []

  init(keyFields: Set<String> = [], parameters: Set<String> = []) {
    self.keyFields = keyFields
    self.parameters = parameters
  }

  /// What a call and its environment say.
  init(of context: CallContext) {
    parameters = context.values[SensitiveParameters.self].union(context.environment.sensitiveParameters)
    for authentication in context.environment.authentications {
      keyFields.formUnion(authentication.fieldNames)
      parameters.formUnion(authentication.parameterNames)
    }
  }

  /// Whether a field stays behind.
  ///
  /// Beside the fields that are marked these are the ones that the standards know, and those whose name says what they
  /// are for: an app that forgot a mark should not pay for it with its key.
  func contain(_ field: HTTPField) -> Bool {
    if field.indexingStrategy == .disallow { return true }
    let name = field.name.canonicalName
    if keyFields.contains(name) || name.hasPrefix("x-amz-") { return true }
    return name.utf8.split { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }.contains { word in
      Self.tellingWords.contains { word.elementsEqual($0.utf8) }
    }
  }

  /// `Proxy-Authorization`, `WWW-Authenticate`, `Cookie2`, `X-Api-Key`, `X-CSRF-Token`, `Idempotency-Key` and so on.
  private static let tellingWords: [String] = [
    "authorization", "authenticate", "authentication", "auth", "cookie", "cookie2", "key", "apikey", "token",
    "accesstoken", "secret", "password", "passwd", "credential", "credentials", "session", "sessionid", "signature",
    "csrf", "csrftoken", "xsrf", "dpop", "jwt", "otp", "bearer", "authtoken", "apitoken", "accesskey", "secretkey",
    "sessiontoken", "jsessionid", "phpsessid",
  ]

  /// A target without the parameters that must not go along.
  func removed(from target: String) -> String {
    guard !parameters.isEmpty, let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return target }
    let items = target[target.utf8.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
    let kept = items.filter { item in
      let name = item.prefix { $0 != "=" }.replacing("+", with: " ")
      return !parameters.contains(name.removingEscapes)
    }
    guard kept.count < items.count else { return target }
    return target[..<mark] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
  }
}

extension Substring {
  /// One level of percent-encoding undone.
  fileprivate var removingEscapes: String {
    var bytes: [UInt8] = []
    var rest = utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = UInt8(Substring(rest.prefix(2)), radix: 16), rest.count >= 2 {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
