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
    if keyFields.contains(name) || name.utf8.starts(with: "x-amz-".utf8) { return true }
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
    let items = target[target.utf8.index(after: mark)...].utf8.split(
      separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    let kept = items.filter { item in !parameters.contains(item.prefix { $0 != UInt8(ascii: "=") }.formDecoded) }
    guard kept.count < items.count else { return target }
    return target[..<mark] + (kept.isEmpty ? "" : "?" + kept.map { Substring($0) }.joined(separator: "&"))
  }
}

extension Substring.UTF8View {
  /// One level of percent-encoding undone, with spaces for plus signs.
  fileprivate var formDecoded: String {
    var bytes: [UInt8] = []
    var rest = self
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = rest.first?.hexValue, let low = rest.dropFirst().first?.hexValue {
        bytes.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension UInt8 {
  /// The value of a hexadecimal digit; `nil` for any other byte.
  var hexValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
