public import Apus

/// A headline.
public struct Headline: Codable, Sendable, Hashable, Identifiable {
  /// The article's id.
  public let id: Int
  /// The title.
  public let title: String

  /// Creates a headline, for previews and tests.
  public init(id: Int, title: String) {
    self.id = id
    self.title = title
  }
}

/// An article.
public struct Article: Codable, Sendable, Hashable, Identifiable {
  /// The article's id.
  public let id: Int
  /// The title.
  public let title: String
  /// The text.
  public let text: String

  /// Creates an article, for previews and tests.
  public init(id: Int, title: String, text: String) {
    self.id = id
    self.title = title
    self.text = text
  }
}

/// The app's interface to news.
///
/// ``LiveNewsService`` calls the server; previews and tests use fakes.
public protocol NewsService: Sendable {
  /// Returns the newest headlines. A call is rejected while an earlier call is in flight, so repeated taps send one
  /// request.
  func headlines() async throws(CallError) -> [Headline]

  /// Returns an article.
  func article(_ id: Article.ID) async throws(CallError) -> Article
}
