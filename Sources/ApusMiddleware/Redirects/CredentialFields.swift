public import ApusCore
import HTTPTypes

/// The fields and parameters of a request that must not be sent to another origin.
struct CredentialFields {
  /// The fields that the environment's authentications use, in lower case.
  var keyFields: Set<String> = []
  /// The names of query parameters with secrets.
  var parameters: Set<String> = []

  init(keyFields: Set<String> = [], parameters: Set<String> = []) {
    self.keyFields = keyFields
    self.parameters = parameters
  }

  /// Collects the fields and parameters of a call and its environment.
  init(of context: CallContext) {
    parameters = context.values[SensitiveParameters.self].union(context.environment.sensitiveParameters)
    for location in context.environment.authentications.flatMap(\.parts.scheme.locations) {
      switch location {
      case .field(let name): keyFields.insert(name.lowercased())
      case .parameter(let name): parameters.insert(name)
      }
    }
  }

  /// Whether a field must be removed.
  ///
  /// This includes fields that are marked as sensitive, standard fields with credentials, and fields whose names
  /// suggest a secret, in case an app did not mark them.
  func contain(_ field: HTTPField) -> Bool {
    field.indexingStrategy == .disallow || contain(name: field.name.canonicalName)
  }

  /// Whether a field that is not part of a message yet must be removed.
  func contain(_ field: RawField) -> Bool {
    field.isSensitive || contain(name: field.name.lowercased())
  }

  private func contain(name: String) -> Bool {
    keyFields.contains(name) || name.utf8.starts(with: "x-amz-".utf8) || RevealingWords.mark(field: name.utf8)
  }

  /// Returns the target without the secret parameters.
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
  /// Decodes one level of percent-encoding, and plus signs as spaces.
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
  /// The value of a hexadecimal digit; `nil` for other bytes.
  var hexValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// The names of query parameters that carry secrets.
enum SensitiveParameters: ContextKey {
  static let defaultValue: Set<String> = []
}

extension Environment {
  /// The names of query parameters that carry secrets. Default: none.
  ///
  /// If a redirect to another origin repeats such a parameter, the redirect is followed without the parameter. The
  /// parameter of `Authentication.apiKey(_:queryParameter:)` is included. For fields use ``RawField/isSensitive``.
  public var sensitiveParameters: Set<String> {
    get { values[SensitiveParameters.self] }
    set { values[SensitiveParameters.self] = newValue }
  }
}

extension Endpoint {
  /// Marks query parameters of this endpoint as secret: they are not sent to another origin on a redirect, see
  /// ``Environment/sensitiveParameters``.
  public func sensitiveParameters(_ names: String...) -> Request<Value> {
    modified { $0.options.values[SensitiveParameters.self].formUnion(names) }
  }
}
