import Apus
import ApusTesting
import MoviesService
import Testing

@Suite struct MoviesServiceTests {
  private let stub = StubTransport()

  /// Against TheMovieDB's own address, whose answers the stub gives.
  private var movies: LiveMoviesService {
    let key = MemoryCredentials(token: "k3y")
    return LiveMoviesService(
      client: Client(baseURL: "https://api.themoviedb.org/3", transport: stub) {
        $0.authentication = .apiKey(key, queryParameter: "api_key")
      })
  }

  private func page(_ number: Int, of count: Int, titles: [String]) -> StubAnswer {
    let films = titles.enumerated().map { #"{"id":\#(number * 100 + $0),"title":"\#($1)","genre_ids":[18]}"# }
    return .json(
      #"{"page":\#(number),"results":[\#(films.joined(separator: ","))],"total_pages":\#(count),"total_results":9}"#)
  }

  @Test("TheMovieDB is asked for a film with the key in the query, and its answer is understood")
  func themoviedb() async throws {
    stub.on(
      .get, "/3/movie/238",
      answer: .json(
        #"""
        {"adult":false,"backdrop_path":"/x.jpg","belongs_to_collection":{"id":230,"name":"The Godfather Collection"},
        "budget":6000000,"genres":[{"id":18,"name":"Drama"},{"id":80,"name":"Crime"}],"id":238,"imdb_id":"tt0068646",
        "original_language":"en","release_date":"1972-03-14","runtime":175,"title":"The Godfather","vote_average":8.7}
        """#))
    let film = try await movies.details(of: 238)
    #expect(film.title == "The Godfather")
    #expect(film.runtime == 175)
    #expect(film.genres.map(\.name) == ["Drama", "Crime"])
    let sent = try #require(stub.exchanges.first)
    #expect(sent.request.origin.map { "\($0)" } == "https://api.themoviedb.org")
    #expect(sent.target == "/3/movie/238?api_key=k3y")
  }

  @Test("popular films come page after page")
  func pages() async throws {
    stub.on(.get, "/3/movie/popular?page=1&api_key=k3y", answer: page(1, of: 2, titles: ["Alien", "Brazil"]))
    stub.on(.get, "/3/movie/popular?page=2&api_key=k3y", answer: page(2, of: 2, titles: ["Contact"]))
    var titles: [String] = []
    for try await page in movies.popular() { titles += page.results.map(\.title) }
    #expect(titles == ["Alien", "Brazil", "Contact"])
  }

  @Test("a search text goes into the query whatever it holds")
  func search() async throws {
    stub.on(.get, "/3/search/movie", answer: page(1, of: 1, titles: ["Amélie & co"]))
    let found = try await movies.search("amélie & co?")
    #expect(found.results.map(\.title) == ["Amélie & co"])
    #expect(stub.exchanges.first?.target == "/3/search/movie?query=am%C3%A9lie%20%26%20co%3F&page=1&api_key=k3y")
  }

  @Test("the server's own sentence is shown when the key is wrong")
  func wrongKey() async throws {
    stub.onAny(
      answer: .json(
        #"{"status_code":7,"status_message":"Invalid API key: You must be granted a valid key.","success":false}"#,
        status: 401))
    let error = await #expect(throws: CallError.self) { try await movies.details(of: 1) }
    #expect(error?.errorDescription == "Invalid API key: You must be granted a valid key.")
    #expect(error?.rejection?.code == "7")
  }

  @Test("videos are taken out of their envelope")
  func videos() async throws {
    stub.on(
      .get, "/3/movie/238/videos",
      answer: .json(#"{"id":238,"results":[{"name":"Trailer","site":"YouTube","key":"abc","iso_639_1":"en"}]}"#))
    #expect(try await movies.videos(of: 238).map(\.name) == ["Trailer"])
  }

  @Test("a film without a date has no year", arguments: [(nil, nil), ("", nil), ("1972-03-14", 1972)])
  func year(date: String?, year: Int?) {
    #expect(Movie(id: 1, title: "x", releaseDate: date).year == year)
  }

  @Test("the list ends at page 500, whatever the server counts")
  func lastPage() {
    #expect(MoviePage(results: [], page: 500, totalPages: 40_000).isLast)
    #expect(!MoviePage(results: [], page: 499, totalPages: 40_000).isLast)
    #expect(MoviePage(results: [], page: 1, totalPages: 0).isLast)
  }
}
