public import ApusCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A name and a password in `Authorization: Basic` (RFC 7617), in UTF-8.
public struct BasicScheme: AuthenticationScheme {
  /// `Basic`
  public var name: String? { "Basic" }
  /// `Authorization`
  public var places: [CredentialPlace] { [.field("Authorization")] }

  /// Makes the scheme.
  public init() {}

  /// Adds name and password.
  public func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    guard case .password(let user, let password) = credential else {
      throw TransportError.unusable("basic authentication needs a name and a password")
    }
    request.authorize(by: "Basic", try Self.pair(user, password))
    return true
  }

  /// Name and password in the form of RFC 7617 §2.
  private static func pair(_ user: String, _ password: Secret) throws -> String {
    guard !user.utf8.contains(UInt8(ascii: ":")) else { throw TransportError.unusable("the user name holds a colon") }
    let pair = "\(user):\(password.value)"
    guard pair.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw TransportError.unusable("the user name or the password holds a control character")
    }
    return Data(pair.utf8).base64EncodedString()
  }
}
