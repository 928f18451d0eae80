public import Apus

/// The analytics server: a separate server, with an API key that belongs to the app and not to a user.
public struct LiveAnalyticsService: AnalyticsService {
  private let client: Client

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - baseURL: the address of the analytics server.
  ///   - key: the app's API key, sent in the field (header) `X-Api-Key` to that server only.
  public init(baseURL: BaseURL, key: Secret) {
    client = Client(baseURL: baseURL) {
      $0.apply(.app)
      $0.authentication = .apiKey(key.value, field: "X-Api-Key")
    }
  }

  /// Sends the event with low priority. A lost event is not retried, because a retry could create a duplicate.
  public func track(_ event: AnalyticsEvent) async throws(CallError) {
    try await client.send(.track(event))
  }
}

extension Endpoint where Self == Request<Void> {
  static func track(_ event: AnalyticsEvent) -> Self {
    Request<Void>.post("/events", content: .json(event)).tag("analytics").priority(.low)
  }
}
