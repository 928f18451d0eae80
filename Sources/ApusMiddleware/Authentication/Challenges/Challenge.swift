public import HTTPTypes

/// A challenge of a server in `WWW-Authenticate` (RFC 9110 §11.3): a scheme and its parameters.
public struct Challenge: Sendable, Hashable {
  /// A parameter of a challenge, its value without quotes and escapes.
  package struct Parameter: Sendable, Hashable {
    /// The name as the server wrote it, compared case-insensitively.
    package let name: String
    /// The value.
    package let value: String

    /// Creates a parameter.
    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The scheme's name as the server wrote it, for example `Basic`, compared case-insensitively.
  public let scheme: String
  /// The `token68` that some schemes have in place of parameters.
  public let token: String?
  /// The parameters, in order.
  package let parameters: [Parameter]

  /// Creates a challenge.
  package init(_ scheme: String, token: String? = nil, parameters: [Parameter] = []) {
    self.scheme = scheme
    self.token = token
    self.parameters = parameters
  }

  /// The value of the first parameter with a name, given in lower case.
  public subscript(_ name: String) -> String? {
    parameters.first { $0.name.lowercased() == name }?.value
  }

  /// Whether the challenge is for a scheme, compared case-insensitively.
  public func matches(scheme: String) -> Bool {
    self.scheme.lowercased() == scheme.lowercased()
  }

  /// The protection space (RFC 9110 §11.5).
  public var realm: String? { self["realm"] }
}

extension Challenge {
  /// The challenges of a response, in order, from its `WWW-Authenticate` fields (RFC 9110 §11.6.1).
  ///
  /// Malformed text never fails: it is skipped to the end of its line, together with its challenge. The limits are 32
  /// challenges, 64 parameters for each, and 16 KiB in total.
  ///
  /// - Parameter fields: the fields of the response.
  public static func all(in fields: HTTPFields) -> [Challenge] {
    var parser = ChallengeParser()
    for field in fields[fields: .wwwAuthenticate] {
      guard parser.read(field.withUnsafeBytesOfValue { Array($0) }) else { break }
    }
    return parser.challenges
  }
}
