/// Tells one source of credentials from another: two authentications may share one.
struct SourceIdentity: Hashable {
  private let object: ObjectIdentifier

  /// Means something as long as the authentication is kept.
  init(_ authentication: Authentication) {
    self.init(authentication.parts.source, elseOf: authentication.parts)
  }

  /// - Parameter owner: stands for a source that is a value: it is nobody else's.
  init(_ source: any CredentialSource, elseOf owner: AnyObject) {
    object = ObjectIdentifier(type(of: source) is AnyClass ? source as AnyObject : owner)
  }
}
