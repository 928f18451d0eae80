public import ApusCore

/// A key in a field or a query parameter of the server's choice.
public struct KeyScheme: AuthenticationScheme {
  private let place: CredentialPlace

  /// Servers do not ask for it by a name.
  public var name: String? { nil }
  /// The field or the parameter.
  public var places: [CredentialPlace] { [place] }

  /// A key in a field, for example `X-Api-Key`.
  public init(field: String) {
    place = .field(field)
  }

  /// A key in a query parameter: only for servers that take it nowhere else, since URLs end up in logs.
  public init(queryParameter: String) {
    place = .parameter(queryParameter)
  }

  /// Adds the key.
  public func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    let key = try credential.checkedToken()
    switch place {
    case .field(let name): try request.addField(RawField(name, key, isSensitive: true))
    case .parameter(let name): try request.addQuery([name: key])
    }
    return true
  }
}
