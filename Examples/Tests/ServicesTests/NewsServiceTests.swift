import Apus
import ApusTesting
import Backend
import NewsService
import Testing

@Suite struct NewsServiceTests {
  private let stub = StubTransport()

  private var news: LiveNewsService {
    LiveNewsService(
      client: Client(baseURL: "https://news.test", transport: stub) {
        $0.envelope = EnvelopeFormat()
      })
  }

  private let headlines = StubReply.json(#"{"code":0,"message":"ok","data":[{"id":1,"title":"Swifts are back"}]}"#)

  @Test("The data of a real server's response is decoded from the envelope")
  func envelope() async throws {
    try await withSite { site in
      let news = LiveNewsService(baseURL: site.client.environment.baseURL)
      let headlines = try await news.headlines()
      #expect(headlines.map(\.id) == [1, 2, 3])
      let article = try await news.article(2)
      #expect(article.title == headlines[1].title)
      #expect(!article.text.isEmpty)
    }
  }

  @Test("An envelope with an error code is a rejection with its code and message, although the status is 200")
  func rejection() async throws {
    try await withSite { site in
      let news = LiveNewsService(baseURL: site.client.environment.baseURL)
      let error = await #expect(throws: CallError.self) { try await news.article(99) }
      #expect(error?.code == .rejected)
      #expect(error?.status == 200)
      #expect(error?.rejection?.code == "1404")
      #expect(error?.message == "There is no such article.")
      #expect(site.backend.log.rows { $0.path == "/news/99" }.map(\.status) == [200])
    }
  }

  @Test("A second call for headlines is rejected while the first is in flight, and no request is sent")
  func duplicate() async throws {
    let gate = Gate()
    stub.on(.get, "/news", replies: [headlines.waiting(for: gate), headlines])
    let news = news
    async let first = news.headlines()
    try await gate.waitForArrivals(1)
    let error = await #expect(throws: CallError.self) { try await news.headlines() }
    #expect(error?.code == .refused)
    #expect(error?.requestState == .notSent)
    #expect(stub.exchanges.count == 1)
    gate.open()
    #expect(try await first.map(\.title) == ["Swifts are back"])
    #expect(try await news.headlines().count == 1)
    #expect(stub.exchanges.count == 2)
  }
}
