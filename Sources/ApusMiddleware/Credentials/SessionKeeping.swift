package import ApusCore

/// A middleware that keeps data of a session, and removes the data at a sign-out.
package protocol SessionKeeping: Middleware {
  /// Removes the data of an environment's session. Called before and after its credentials are removed: in between, a
  /// call may still have been made with them.
  func signedOut(of environment: Environment) async
}
