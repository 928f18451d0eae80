#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The requested maximum age of the user's authentication (`max_age`, OpenID Connect Core §3.1.2.1).
struct AuthenticationAge: Hashable {
  private let seconds: Int64
  /// The start of the sign-in. The age is measured at this time, so that the user may take any time afterward.
  private let start: Date

  /// Reads the parameter of an authorization request.
  init(_ text: String, start: Date) throws(OAuthError) {
    guard let seconds = Int64(text), seconds >= 0 else {
      throw OAuthError(.authorization, .invalidRequest, "max_age is no number of seconds")
    }
    (self.seconds, self.start) = (seconds, start)
  }

  /// Whether an authentication at a time is recent enough.
  ///
  /// - Parameter leeway: the maximum difference of the clocks in seconds.
  func includes(_ authentication: Date, leeway: Double) -> Bool {
    start.timeIntervalSince(authentication) <= Double(seconds) + leeway
  }
}
