public import Apus

/// An event: an action of a user in the app.
public struct AnalyticsEvent: Codable, Sendable, Hashable {
  /// The event's name, for example `signed-in`.
  public let name: String

  /// Creates an event.
  public init(name: String) {
    self.name = name
  }
}

/// The app's interface to usage statistics.
public protocol AnalyticsService: Sendable {
  /// Sends an event.
  func track(_ event: AnalyticsEvent) async throws(CallError)
}
