import HTTPTypes

/// News, with every response in an envelope: `{"code": 0, "message": "ok", "data": …}`.
///
/// - `GET /news`: the headlines, `[{id, title}]`
/// - `GET /news/{id}`: an article, `{id, title, text}`; for an unknown id code 1404, with status 200
struct NewsRoutes {
  private struct Envelope<Value: Encodable>: Encodable {
    let code: Int
    let message: String
    let data: Value?

    /// Encodes missing data as `null`.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(code, forKey: .code)
      try container.encode(message, forKey: .message)
      try container.encode(data, forKey: .data)
    }

    private enum CodingKeys: CodingKey {
      case code, message, data
    }
  }

  private struct Headline: Encodable {
    let id: Int64
    let title: String
  }

  private struct Article: Encodable {
    let id: Int64
    let title: String
    let text: String
  }

  private static let articles = [
    Article(id: 1, title: "Swifts are back", text: "The first ones were seen over the old town on Tuesday."),
    Article(id: 2, title: "Ten months in the air", text: "A common swift lands only to breed."),
    Article(id: 3, title: "Boxes wanted", text: "Builders are asked to leave room for nests under the eaves."),
  ]

  func add(to routes: inout Routes) {
    routes.on(.get, "/news") { _, _ in
      Self.success(Self.articles.map { Headline(id: $0.id, title: $0.title) })
    }
    routes.on(.get, "/news/{id}") { _, context in
      let id = context.id()
      guard let article = Self.articles.first(where: { $0.id == id }) else {
        return .json(Envelope<Article>(code: 1404, message: "There is no such article.", data: nil))
      }
      return Self.success(article)
    }
  }

  private static func success(_ value: some Encodable) -> Response {
    .json(Envelope(code: 0, message: "ok", data: value))
  }
}
