public import ApusCore

/// Which redirects are followed (RFC 9110 §15.4).
///
/// A redirect that is not followed because a limit forbids it is an error; without following at all, ``none``, the
/// redirect itself is the answer.
public struct RedirectPolicy: Sendable, Hashable {
  /// What a policy that follows allows.
  struct Limits: Sendable, Hashable {
    var hops: Int
    var allowsInsecure: Bool
    /// As on the wire; `nil`: any.
    var hosts: Set<String>?
  }

  /// `nil`: redirects are not followed.
  let limits: Limits?

  /// Redirects are not followed: a call gets the answer that has the redirect's status.
  public static let none = RedirectPolicy(limits: nil)

  /// Up to 10 redirects in a row are followed, to any host, never from https to http.
  public static let follow = RedirectPolicy.follow()

  /// Redirects are followed within limits.
  ///
  /// - Parameters:
  ///   - limit: how many in a row; one more is an error. Default: 10.
  ///   - allowsInsecure: whether one may lead from https to http, where everybody on the way can read along.
  ///     Default: no.
  ///   - hosts: names of hosts that one may lead to, beside the one that the call began at; an empty set keeps calls
  ///     at that host. Default: `nil`, any host.
  public static func follow(
    limit: Int = 10, allowsInsecure: Bool = false, hosts: Set<String>? = nil
  ) -> RedirectPolicy {
    // As they are compared: lower case, in other alphabets their ASCII form. What is no host is equal to none.
    let hosts = hosts.map { Set($0.map { (try? BaseURL("https://\($0)"))?.origin?.host ?? $0.lowercased() }) }
    return RedirectPolicy(limits: Limits(hops: max(0, limit), allowsInsecure: allowsInsecure, hosts: hosts))
  }
}

enum RedirectPolicyKey: ContextKey {
  /// The client's.
  static let defaultValue: RedirectPolicy? = nil
}

extension Endpoint {
  /// Says which redirects calls of this endpoint follow. Default: what the client says.
  public func redirects(_ policy: RedirectPolicy) -> Request<Value> {
    setting(RedirectPolicyKey.self, policy)
  }
}
