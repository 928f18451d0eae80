import HTTPTypes

/// The `WWW-Authenticate` field of a 401 (RFC 6750, section 3).
enum Challenge {
  /// Credentials are missing: no error is named, as nothing was wrong with any.
  static func missing(realm: String) -> Problem {
    problem("This resource is for signed-in clients.", #"Bearer realm="\#(quoted(realm))""#)
  }

  /// Somebody could not sign in; that is not a token's fault, so no error code names one.
  static func refused(realm: String, _ description: String) -> Problem {
    problem(description, #"Bearer realm="\#(quoted(realm))", error_description="\#(quoted(description))""#)
  }

  /// A token was refused.
  static func invalidToken(realm: String, _ description: String) -> Problem {
    let parameters = #"realm="\#(quoted(realm))", error="invalid_token", error_description="\#(quoted(description))""#
    return problem(description, "Bearer \(parameters)")
  }

  private static func problem(_ detail: String, _ challenge: String) -> Problem {
    Problem(.unauthorized, detail, fields: [.wwwAuthenticate: challenge])
  }

  /// The text of a quoted string: the realm may be any name.
  private static func quoted(_ text: String) -> String {
    String(text.unicodeScalars.filter { $0.isASCII && $0.value >= 32 && $0 != "\"" && $0 != "\\" && $0.value != 127 })
  }
}
