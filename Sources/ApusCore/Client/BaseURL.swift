/// Where a server is: scheme, host and port, and what all its URLs begin and end with.
///
/// A literal is checked when a call uses it: the call then throws `invalidRequest`. To check early, for
/// example a URL from a settings file, write `try BaseURL(text)`.
///
/// Path and query are kept: below `https://api.example.com/v1?region=eu` the path `/users` gives
/// `https://api.example.com/v1/users?region=eu`. Hosts may be IPv6 addresses in brackets and names in any
/// language, which are sent in their ASCII form (RFC 3986, RFC 5891).
public struct BaseURL: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// A base URL that cannot be used.
  public struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, as half a sentence. Never the text itself, which may hold a password.
    public let reason: String
    /// The reason in a sentence.
    public var description: String { "the base URL cannot be used: \(reason)" }
  }

  struct Parts: Sendable, Hashable, CustomReflectable {
    var origin: Origin
    /// Percent-encoded, without a slash at its end; empty for none.
    var path: String
    /// Percent-encoded, without `?`; `nil` for none.
    var query: String?
    let authority: String

    /// The query may hold a key, and whatever holds a call holds this.
    var customMirror: Mirror { Mirror(self, children: ["description": "\(origin)\(path)"]) }
  }

  let parts: Result<Parts, Malformed>

  /// Checks a URL.
  ///
  /// - Parameter text: an absolute http or https URL without user information and fragment.
  /// - Throws: ``Malformed``, which says what is wrong.
  public init(_ text: String) throws(Malformed) {
    parts = .success(try BaseURLParser.parse(text))
  }

  /// Takes what a person types, for example in a settings screen: `localhost:8080`, `api.example.com/v1/`.
  ///
  /// Spaces around it are left out, and where there is no scheme one is added: `http` for a loopback host (`localhost`,
  /// `127.0.0.1`, `[::1]` and their like), `https` for all others. Everything else is checked as by ``init(_:)``: user
  /// information, fragments and other schemes are refused.
  ///
  /// - Parameter text: a host, with or without a scheme, a port, a path and a query.
  /// - Throws: ``Malformed``, which says what is wrong.
  public init(lenient text: String) throws(Malformed) {
    parts = .success(try BaseURLParser.parse(BaseURLParser.completed(text)))
  }

  /// Takes a literal without checking it; calls that use a malformed one throw `invalidRequest`.
  public init(stringLiteral value: String) {
    parts = Result { () throws(Malformed) in try BaseURLParser.parse(value) }
  }

  /// Scheme, host and port; `nil` when the literal was malformed.
  public var origin: Origin? {
    (try? parts.get())?.origin
  }

  /// The URL without its query; what is wrong with it when it is malformed.
  public var description: String {
    switch parts {
    case .success(let parts): "\(parts.origin)\(parts.path)"
    case .failure(let malformed): malformed.description
    }
  }
}
