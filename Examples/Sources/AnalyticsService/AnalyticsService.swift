public import Apus

/// Something a user did in the app.
public struct AnalyticsEvent: Codable, Sendable, Hashable {
  /// The event's name, for example `signed-in`.
  public let name: String

  /// Creates an event.
  public init(name: String) {
    self.name = name
  }
}

/// Usage statistics, as the app sees them.
public protocol AnalyticsService: Sendable {
  /// Sends an event.
  func track(_ event: AnalyticsEvent) async throws(CallError)
}
