/// What a server asks for in `WWW-Authenticate` (RFC 9110 §11.3): one scheme, with what it needs to know.
public struct Challenge: Sendable, Hashable {
  /// A parameter of a challenge; its value without quotes and escapes.
  public struct Parameter: Sendable, Hashable {
    /// Its name as the server wrote it; compared without regard to case.
    public let name: String
    /// Its value.
    public let value: String

    /// Makes a parameter.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The scheme's name as the server wrote it, for example `Basic`; compared without regard to case.
  public let scheme: String
  /// What some schemes have in the place of parameters (`token68`).
  public let token: String?
  /// Its parameters, in order.
  public let parameters: [Parameter]

  /// Makes a challenge; for tests and schemes of your own.
  public init(_ scheme: String, token: String? = nil, parameters: [Parameter] = []) {
    self.scheme = scheme
    self.token = token
    self.parameters = parameters
  }

  /// The value of a parameter, by its name in lower case; the first of several.
  public subscript(_ name: String) -> String? {
    parameters.first { $0.name.lowercased() == name }?.value
  }

  /// Whether it asks for a scheme, by the scheme's name in any case.
  public func asks(for scheme: String) -> Bool {
    self.scheme.lowercased() == scheme.lowercased()
  }

  /// The part of the server that it is about (RFC 9110 §11.5).
  public var realm: String? { self["realm"] }
}
