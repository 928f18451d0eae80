import ApusCore
import HTTPTypes

/// A field that Signature Version 4 defines for signed requests.
enum SignatureField {
  case authorization, date, token, payload, decodedLength, trailer

  private static let names = [
    "Authorization", "X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Content-SHA256", "X-Amz-Decoded-Content-Length",
    "X-Amz-Trailer",
  ].compactMap { HTTPField.Name($0) }

  /// The name; never `nil`, because all names are valid.
  fileprivate var name: HTTPField.Name? {
    switch self {
    case .authorization: Self.names.first
    case .date: Self.names.dropFirst().first
    case .token: Self.names.dropFirst(2).first
    case .payload: Self.names.dropFirst(3).first
    case .decodedLength: Self.names.dropFirst(4).first
    case .trailer: Self.names.dropFirst(5).first
    }
  }

  /// - Parameter name: the name in lower case.
  static func contains(_ name: String) -> Bool {
    if name == "authorization" { return true }
    guard name.utf8.starts(with: "x-amz-".utf8) else { return false }
    switch name {
    case "x-amz-date", "x-amz-security-token", "x-amz-content-sha256", "x-amz-decoded-content-length", "x-amz-trailer":
      return true
    default: return false
    }
  }
}

extension RequestMessage {
  /// Appends a field that Signature Version 4 defines. The message must not have it yet.
  ///
  /// - Parameter value: printable ASCII characters.
  mutating func append(_ field: SignatureField, _ value: String, isSecret: Bool = false) {
    guard let name = field.name else { return }
    var field = HTTPField(name: name, value: value)
    if isSecret { field.indexingStrategy = .disallow }
    head.headerFields.append(field)
  }

  /// Appends a session token, if the credentials contain a session token.
  ///
  /// - Throws: ``SigningError/invalidCredentials`` if a field cannot contain the token: the server would reject a
  ///   signature of a field that is not sent as it was signed.
  mutating func append(token: String?) throws(SigningError) {
    guard let token else { return }
    guard token.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .invalidCredentials }
    append(.token, token, isSecret: true)
  }
}

extension CanonicalText {
  /// Whether a field can contain the text.
  var isPrintable: Bool { bytes.allSatisfy { (0x20...0x7E).contains($0) } }
}
