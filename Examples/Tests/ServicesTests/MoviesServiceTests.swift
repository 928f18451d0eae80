import Apus
import ApusTesting
import MoviesService
import Testing

@Suite struct MoviesServiceTests {
  private let stub = StubTransport()

  /// A service with TheMovieDB's own address and stubbed responses.
  private var movies: LiveMoviesService {
    LiveMoviesService(
      client: Client(baseURL: "https://api.themoviedb.org/3", transport: stub) {
        $0.authentication = .apiKey("k3y", queryParameter: "api_key")
      })
  }

  private func page(_ number: Int, of count: Int, titles: [String]) -> StubReply {
    let films = titles.enumerated().map { #"{"id":\#(number * 100 + $0),"title":"\#($1)","genre_ids":[18]}"# }
    return .json(
      #"{"page":\#(number),"results":[\#(films.joined(separator: ","))],"total_pages":\#(count),"total_results":9}"#)
  }

  @Test("A movie is requested with the key in the query, and TheMovieDB's response is decoded")
  func themoviedb() async throws {
    stub.on(
      .get, "/3/movie/238",
      reply: .json(
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

  @Test("Popular movies are fetched page by page")
  func pages() async throws {
    stub.on(.get, "/3/movie/popular?page=1&api_key=k3y", reply: page(1, of: 2, titles: ["Alien", "Brazil"]))
    stub.on(.get, "/3/movie/popular?page=2&api_key=k3y", reply: page(2, of: 2, titles: ["Contact"]))
    var titles: [String] = []
    for try await page in movies.popular() { titles += page.results.map(\.title) }
    #expect(titles == ["Alien", "Brazil", "Contact"])
  }

  @Test("A search text is encoded in the query")
  func search() async throws {
    stub.on(.get, "/3/search/movie", reply: page(1, of: 1, titles: ["Amélie & co"]))
    let found = try await movies.search("amélie & co?")
    #expect(found.results.map(\.title) == ["Amélie & co"])
    #expect(stub.exchanges.first?.target == "/3/search/movie?query=am%C3%A9lie%20%26%20co%3F&page=1&api_key=k3y")
  }

  @Test("The error of a wrong key contains the server's message")
  func wrongKey() async throws {
    stub.onAny(
      reply: .json(
        #"{"status_code":7,"status_message":"Invalid API key: You must be granted a valid key.","success":false}"#,
        status: 401))
    let error = await #expect(throws: CallError.self) { try await movies.details(of: 1) }
    #expect(error?.errorDescription == "Invalid API key: You must be granted a valid key.")
    #expect(error?.rejection?.code == "7")
  }

  @Test("Videos are decoded from the member results")
  func videos() async throws {
    stub.on(
      .get, "/3/movie/238/videos",
      reply: .json(
        #"{"id":238,"results":[{"name":"Trailer","type":"Trailer","site":"YouTube","key":"abc","iso_639_1":"en"}]}"#))
    #expect(try await movies.videos(of: 238).map(\.name) == ["Trailer"])
  }

  private func film(poster path: String?) -> Movie {
    var film = Movie(id: 1, title: "x")
    film.posterPath = path
    return film
  }

  @Test("A poster is fetched from the image server, with the tag images and at most two attempts")
  func poster() async throws {
    let clock = ManualClock()
    let images = Client(baseURL: "https://image.tmdb.org/t/p", transport: stub) {
      $0.clock = clock
      ($0.timeout, $0.attemptTimeout) = (nil, nil)
    }
    let movies = LiveMoviesService(client: images, images: images)
    stub.on(
      .get, "/t/p/w185/x.jpg",
      replies: [.status(503), .status(200, fields: ["Content-Type": "image/jpeg"], content: "jpg"), .status(503)])
    let film = film(poster: "/x.jpg")
    #expect(try await movies.poster(of: film) == Poster(type: "image/jpeg", bytes: Array("jpg".utf8)))
    #expect(stub.exchanges.map(\.tags) == [["images"], ["images"]])
    let error = await #expect(throws: CallError.self) { try await movies.poster(of: film) }
    #expect(error?.attempts == 2)
    #expect(stub.exchanges.count == 4)
  }

  @Test("Without a poster path or an image server there is no poster and no request")
  func noPoster() async throws {
    #expect(try await movies.poster(of: film(poster: "/x.jpg")) == nil)
    let images = Client(baseURL: "https://image.tmdb.org/t/p", transport: stub)
    let other = LiveMoviesService(client: images, images: images)
    #expect(try await other.poster(of: film(poster: nil)) == nil)
    #expect(stub.exchanges.isEmpty)
  }

  @Test("A movie without a release date has no year", arguments: [(nil, nil), ("", nil), ("1972-03-14", 1972)])
  func year(date: String?, year: Int?) {
    #expect(Movie(id: 1, title: "x", releaseDate: date).year == year)
  }

  @Test("The list ends at page 500, even when the server reports more")
  func lastPage() {
    #expect(MoviePage(results: [], page: 500, totalPages: 40_000).isLast)
    #expect(!MoviePage(results: [], page: 499, totalPages: 40_000).isLast)
    #expect(MoviePage(results: [], page: 1, totalPages: 0).isLast)
  }
}
