public import ApusCore

enum UnscheduledKey: ContextKey {
  /// Calls wait for a permit.
  static let defaultValue = false
  /// How soon an exchange begins changes nothing about its answer.
  static var tellsCallsApart: Bool { false }
}

extension Endpoint {
  /// Sends calls of this endpoint without a permit of the ``Scheduler``: they are neither queued nor held, and leave all
  /// permits to other calls.
  ///
  /// For long polls, whose server responds when something has happened: a few of them would use all permits for their
  /// server. Their number is limited by the app and by the transport's connections.
  public func unscheduled() -> Request<Value> {
    setting(UnscheduledKey.self, true)
  }
}
