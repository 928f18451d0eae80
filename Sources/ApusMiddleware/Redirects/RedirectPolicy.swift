public import ApusCore

/// A policy that decides which redirects are followed (RFC 9110 §15.4).
///
/// A redirect that a limit forbids is an error. With ``none`` the redirect itself is the response.
public struct RedirectPolicy: Sendable, Hashable {
  /// The limits of a policy that follows redirects.
  struct Limits: Sendable, Hashable {
    var hops: Int
    var allowsInsecure: Bool
    /// The allowed hosts, in the form in which hosts are compared; `nil`: any host.
    var hosts: Set<String>?
  }

  /// `nil`: redirects are not followed.
  let limits: Limits?

  /// A policy that follows no redirects: the redirect is the call's response.
  public static let none = RedirectPolicy(limits: nil)

  /// A policy that follows up to 10 redirects in a row, to any host, never from https to http.
  public static let follow = RedirectPolicy.follow()

  /// Creates a policy that follows redirects within limits.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of redirects in a row. Default: 10.
  ///   - allowsInsecure: whether a redirect may lead from https to http, on which third parties can read the content.
  ///     The same setting applies to other URLs from a response: of a page, an upload or a poll. Default: `false`.
  ///   - hosts: the hosts to which a redirect may lead, in addition to the host of the call itself. Default: `nil`, any
  ///     host.
  public static func follow(
    limit: Int = 10, allowsInsecure: Bool = false, hosts: Set<String>? = nil
  ) -> RedirectPolicy {
    // Hosts are compared in lower case and ASCII. An invalid name matches no host.
    let hosts = hosts.map { Set($0.map { (try? BaseURL("https://\($0)"))?.origin?.host ?? $0.lowercased() }) }
    return RedirectPolicy(limits: Limits(hops: max(0, limit), allowsInsecure: allowsInsecure, hosts: hosts))
  }
}

enum RedirectPolicyKey: ContextKey {
  /// `nil`: the client's policy.
  static let defaultValue: RedirectPolicy? = nil
}

extension Endpoint {
  /// Sets the redirect policy of calls of this endpoint. Default: the client's policy.
  public func redirects(_ policy: RedirectPolicy) -> Request<Value> {
    setting(RedirectPolicyKey.self, policy)
  }
}

/// The reason why a redirect was not followed.
///
/// It is the cause of the ``CallError`` that such a call throws: `error.underlying as? RedirectRefusal`.
public enum RedirectRefusal: Error, Sendable, Hashable {
  /// The limit of redirects in a row was reached.
  case tooManyRedirects(limit: Int)
  /// The call has sent the same request before, and no cookie has been set since that could change the response.
  case loop
  /// The redirect leads from https to http.
  case insecure
  /// The redirect leads to a scheme other than http and https.
  case unsupportedScheme
  /// The redirect leads to a host that is not allowed.
  case hostNotAllowed
  /// The content must be resent, and can be sent only once.
  case contentNotReplayable
  /// The `Location` is invalid. The value is the reason as a clause, without the field's text.
  case malformedLocation(String)
}

extension RedirectRefusal: CustomStringConvertible {
  /// The reason as a clause, without any text from the server.
  public var description: String {
    switch self {
    case .tooManyRedirects(let limit): "a redirect was not followed: the limit is \(limit)"
    case .loop: "a redirect was not followed: it leads in a circle"
    case .insecure: "a redirect was not followed: it leads from https to http"
    case .unsupportedScheme: "a redirect was not followed: its scheme is neither http nor https"
    case .hostNotAllowed: "a redirect was not followed: it leads to a host that is not allowed"
    case .contentNotReplayable: "a redirect was not followed: the content can be sent only once"
    case .malformedLocation(let reason): "a redirect was not followed: \(reason)"
    }
  }

  /// The error of the attempt.
  var error: TransportError {
    let code: CallError.Code = self == .contentNotReplayable ? .invalidRequest : .malformedResponse
    return TransportError(code, requestState: .responded, detail: description, underlying: self)
  }
}
