#if os(Linux)
import Apus
import ApusTransfers
import Crypto
import Foundation
import Testing

/// Lists on real servers: datasette uses absolute links, docker-registry relative links.
@Suite("Pages of real servers")
struct ListTests {
  private struct Film: Decodable, Sendable, Equatable {
    var id: Int
  }

  private struct Table: Decodable, Sendable {
    var rows: [[JSONValue]]
    var next: String?
    var nextURL: String?

    private enum CodingKeys: String, CodingKey {
      case rows, next
      case nextURL = "next_url"
    }
  }

  private static let films = Array(1...95)

  private func withDatasette<Result>(over wire: Wire, body: (Client) async throws -> Result) async throws -> Result {
    let server = try await RealServer.datasette.value
    return try await withClient(try server.url(), over: wire, body: body)
  }

  @Test(
    "Absolute links lead through all pages, with and without prefetching", .needs(.datasette), arguments: Wire.allCases)
  func absoluteLinks(wire: Wire) async throws {
    try await withDatasette(over: wire) { api in
      let request = Request<[Film]>.get("/data/films.json?_size=10&_shape=array")
      for pages in [api.pages(of: request, next: .link), api.pages(of: request, next: .link).prefetching()] {
        var sizes: [Int] = []
        var ids: [Int] = []
        for try await page in pages {
          sizes.append(page.count)
          ids += page.map(\.id)
        }
        #expect(sizes == Array(repeating: 10, count: 9) + [5] && ids == Self.films)
      }
    }
  }

  @Test("URLs and cursors in the content lead through all pages", .needs(.datasette))
  func content() async throws {
    try await withDatasette(over: .nio) { api in
      func ids(_ pages: PageSequence<Table>) async throws -> [JSONValue?] {
        var ids: [JSONValue?] = []
        for try await row in pages.elements(\.rows) { ids.append(row.first) }
        return ids
      }
      let expected = Self.films.map { Optional(JSONValue.number(JSONNumber($0))) }
      let first = Request<Table>.get("/data/films.json?_size=20")
      let byURL = try await ids(api.pages(of: first, next: .url(\.nextURL)))
      #expect(byURL == expected)
      let byCursor = try await ids(
        api.pages(
          of: { Request<Table>.get("/data/films.json", query: ["_size": 20, "_next": $0]) }, next: .cursor(\.next)))
      #expect(byCursor == expected)
    }
  }

  @Test("A list continues at a stored position", .needs(.datasette))
  func position() async throws {
    try await withDatasette(over: .nio) { api in
      let pages = api.pages(of: Request<[Film]>.get("/data/films.json?_size=30&_shape=array"), next: .link)
      var stored = Data()
      for try await step in pages.withPositions {
        stored = try JSONEncoder().encode(step.next)
        break
      }
      let position = try JSONDecoder().decode(PagePosition?.self, from: stored)
      var ids: [Int] = []
      for try await film in pages.resuming(at: position).elements(\.self) { ids.append(film.id) }
      #expect(ids == Array(31...95))
    }
  }

  @Test("NDJSON is decoded element by element", .needs(.datasette), arguments: Wire.allCases)
  func lines(wire: Wire) async throws {
    try await withDatasette(over: wire) { api in
      var ids: [Int] = []
      let request = Request<JSONStream<Film>>.get("/data/films.json?_shape=array&_nl=on&_size=100")
      for try await film in api.stream(request) { ids.append(film.id) }
      #expect(ids == Self.films)
    }
  }
}

@Suite("docker-registry", .needs(.registry))
struct RegistryTests {
  private struct Catalog: Decodable, Sendable {
    var repositories: [String]
  }

  private func withRegistry<Result>(over wire: Wire = .nio, body: (Client) async throws -> Result) async throws
    -> Result
  {
    let server = try await RealServer.registry.value
    return try await withClient(try server.url(), over: wire, body: body)
  }

  private static func digest(of data: Data) -> String {
    "sha256:" + SHA256.hash(data: data).map { String(format: "%02x", $0) }.joined()
  }

  /// Begins an upload and returns the URL for its content.
  private func location(of response: Response<Content>) throws -> RequestPath {
    .url(try #require(response.field("Location")), relativeTo: response.url)
  }

  /// Uploads a blob in one chunk of unknown length, as the registry's protocol permits.
  private func upload(_ data: Data, to repository: String, by api: Client) async throws {
    let begun = try await api.response(to: message(.post, "/v2/\(repository)/blobs/uploads/"))
    #expect(begun.status == 202)
    let stream = ContentStream(isReplayable: true) {
      let rest = Pieces(data)
      return { await rest.next() }
    }
    let sent = try await api.response(
      to: message(.patch, try location(of: begun)).content(.stream(stream)))
    #expect(sent.status == 202)
    let done = try await api.response(
      to: message(.put, try location(of: sent)).query(["digest": Self.digest(of: data)]).content(.bytes(Data())))
    #expect(done.status == 201)
  }

  @Test(
    "A blob is uploaded in chunks to the URLs that the server states, and downloaded with its digest",
    arguments: Wire.allCases)
  func blob(wire: Wire) async throws {
    try await withRegistry(over: wire) { api in
      let data = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 7) })
      let repository = "blobs-\(wire.rawValue.lowercased())"
      try await upload(data, to: repository, by: api)
      let path = FileManager.default.temporaryDirectory.path + "/apus-\(UUID().uuidString)"
      defer { try? FileManager.default.removeItem(atPath: path) }
      let digest = Self.digest(of: data)
      let file = try await api.download(
        .get("/v2/\(repository)/blobs/\(digest)"), to: path,
        options: DownloadOptions(digest: try FileDigest(.sha256, String(digest.dropFirst(7)))))
      #expect(file.size == 3_000_000)
      #expect(try Data(contentsOf: URL(filePath: path)) == data)
    }
  }

  @Test("Relative links lead through the whole catalog")
  func relativeLinks() async throws {
    try await withRegistry { api in
      let names = (1...5).map { "listed-\($0)" }
      let configuration = Data("{}".utf8)
      for name in names {
        try await upload(configuration, to: name, by: api)
        let type = "application/vnd.docker.distribution.manifest.v2+json"
        let manifest = """
          {"schemaVersion": 2, "mediaType": "\(type)", "layers": [], "config": {"mediaType": \
          "application/vnd.docker.container.image.v1+json", "size": 2, "digest": "\(Self.digest(of: configuration))"}}
          """
        let stored = try await api.response(
          to: message(.put, "/v2/\(name)/manifests/latest").content(.text(manifest, MediaType(type))))
        #expect(stored.status == 201)
      }
      var found: [String] = []
      let first = Request<Catalog>.get("/v2/_catalog", query: ["n": 2])
      for try await page in api.pages(of: first, next: .link) {
        #expect(page.repositories.count <= 2)
        found += page.repositories
      }
      #expect(found.filter { $0.hasPrefix("listed-") } == names)
    }
  }
}

/// A source of content in pieces of 100,000 bytes.
private actor Pieces {
  private var rest: Data

  init(_ data: Data) {
    rest = data
  }

  func next() -> Data? {
    guard !rest.isEmpty else { return nil }
    defer { rest = rest.dropFirst(100_000) }
    return rest.prefix(100_000)
  }
}
#endif
