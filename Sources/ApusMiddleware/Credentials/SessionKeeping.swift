package import ApusCore

/// A middleware that keeps data of a session, and removes the data at a sign-out.
package protocol SessionKeeping: Middleware {
  /// Removes the data of an environment's session, before its credentials are removed.
  func signedOut(of environment: Environment)
}
