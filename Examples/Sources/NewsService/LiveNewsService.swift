public import Apus

/// The news of a server that wraps every response in `{"code": …, "message": …, "data": …}`.
///
/// The envelope is a setting of the client, so endpoints describe only the data inside it. If the code in the envelope
/// is not the code of success, the call fails as rejected, although the status is 200.
public struct LiveNewsService: NewsService {
  private let client: Client

  /// Creates the service with a client whose responses come in envelopes.
  ///
  /// - Parameter client: calls the server; `envelope` is set.
  public init(client: Client) {
    self.client = client
  }

  /// Creates the service and its client.
  ///
  /// - Parameters:
  ///   - baseURL: the server's address.
  ///   - configure: changes the client's configuration. Default: no changes.
  public init(baseURL: BaseURL, configure: (inout Configuration) -> Void = { _ in }) {
    client = Client(baseURL: baseURL) {
      $0.envelope = EnvelopeFormat()
      configure(&$0)
    }
  }

  /// Fetches the headlines, with an id that only one call in flight can have.
  public func headlines() async throws(CallError) -> [Headline] {
    try await client.send(.headlines().id("headlines", onDuplicate: .refuse))
  }

  /// Fetches the article.
  public func article(_ id: Article.ID) async throws(CallError) -> Article {
    try await client.send(.article(id))
  }
}

extension Endpoint where Self == Request<[Headline]> {
  static func headlines() -> Self { .get("/news") }
}

extension Endpoint where Self == Request<Article> {
  static func article(_ id: Article.ID) -> Self { .get("/news/\(id)") }
}
