import Apus
import ApusTesting
import MoviesScreen
import MoviesService
import Testing

@MainActor @Suite struct MoviesModelTests {
  private let stub = StubTransport()
  private let model: MoviesModel

  init() {
    let client = Client(baseURL: "https://movies.test/3", transport: stub) { $0.retry = .none }
    model = MoviesModel(service: LiveMoviesService(client: client))
  }

  private func page(_ titles: String...) -> StubReply {
    let films = titles.enumerated().map { #"{"id":\#($0),"title":"\#($1)"}"# }.joined(separator: ",")
    return .json(#"{"results":[\#(films)],"page":1,"total_pages":1,"total_results":\#(titles.count)}"#)
  }

  private var titles: [String]? { model.films.value?.map(\.title) }

  @Test("With an empty field the most popular movies are loaded, with a spinner in the meantime")
  func popular() async throws {
    let gate = Gate()
    stub.on(.get, "/3/movie/popular", reply: page("Alien", "Brazil").waiting(for: gate))
    #expect(!model.films.isLoading)
    let load = model.films.reload()
    try await gate.waitForArrivals(1)
    #expect(model.films.isLoading)
    gate.open()
    await load.value
    #expect(titles == ["Alien", "Brazil"])
    #expect(!model.films.isLoading)
    #expect(model.errorText == nil)
  }

  @Test("The typed text is used for the search")
  func search() async {
    stub.on(.get, "/3/search/movie", reply: page("Contact"))
    model.field.text = "cont act"
    await model.films.load()
    #expect(titles == ["Contact"])
    #expect(stub.exchanges.map(\.target) == ["/3/search/movie?query=cont%20act&page=1"])
  }

  @Test("The next letter supersedes the search in flight, whose result is never displayed")
  func typing() async throws {
    let (slow, fast) = (Gate(), Gate())
    stub.on(
      .get, "/3/search/movie", replies: [page("old").waiting(for: slow), page("new").waiting(for: fast)])
    model.field.text = "a"
    let older = model.films.reload()
    try await slow.waitForArrivals(1)
    model.field.text = "al"
    let newer = model.films.reload()
    await older.value
    #expect(model.films.isLoading)
    #expect(titles == nil)
    fast.open()
    await newer.value
    #expect(titles == ["new"])
    #expect(model.errorText == nil)
  }

  @Test("A failed load displays an error and leaves the movies unchanged; the next load clears the error")
  func failure() async {
    stub.on(.get, "/3/movie/popular", replies: [page("Alien"), .status(503), page("Brazil")])
    await model.films.load()
    await model.films.load()
    #expect(model.errorText == "The server has a problem. Try again later.")
    #expect(titles == ["Alien"])
    #expect(!model.films.isLoading)
    await model.films.load()
    #expect(model.errorText == nil)
    #expect(titles == ["Brazil"])
  }

  @Test("A screen that disappears cancels its load and displays no error")
  func leaving() async throws {
    stub.on(.get, "/3/movie/popular", reply: .stalled)
    let films = model.films
    let task = Task { await films.load() }
    try await stub.waitForExchanges(1)
    task.cancel()
    await task.value
    #expect(model.errorText == nil)
    #expect(!model.films.isLoading)
    #expect(stub.exchanges.map(\.outcome) == [.cancelled])
  }
}
