public import HTTPTypes

extension Challenge {
  /// The challenges of an answer, in the server's order: what its `WWW-Authenticate` fields hold (RFC 9110 §11.6.1).
  ///
  /// Nothing that a server writes there makes it fail. What is malformed is left out to the end of its line, together
  /// with the challenge it stands in. At most 32 challenges of up to 64 parameters are read, out of lines of 16 KiB in
  /// all.
  ///
  /// - Parameter fields: the fields of the answer.
  public static func all(in fields: HTTPFields) -> [Challenge] {
    var parser = ChallengeParser()
    for field in fields[fields: .wwwAuthenticate] {
      guard parser.read(field.withUnsafeBytesOfValue { Array($0) }) else { break }
    }
    return parser.challenges
  }
}
