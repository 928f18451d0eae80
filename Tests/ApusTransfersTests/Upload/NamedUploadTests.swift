import ApusCore
import ApusMiddleware
import ApusTesting
import ApusTransfers
import Foundation
import HTTPTypes
import TestSupport
import Testing

@Suite("Upload URLs that a server states in Location")
struct NamedUploadTests {
  enum Variant: String, CaseIterable, Sendable {
    case tus, ietf

    var uploadProtocol: UploadProtocol { self == .tus ? .tus() : .ietf(createsFirst: true) }
  }

  private let stub = StubTransport()
  private var urls: [String] { stub.exchanges.map { "\($0.method) \($0.request.url)" } }

  /// Creates a client with the policy. `nil`: the client follows no redirects.
  private func client(_ policy: RedirectPolicy? = .follow, _ baseURL: BaseURL = "https://films.example") -> Client {
    var pipeline = Pipeline()
    if let policy { pipeline.insert(RedirectMiddleware(policy), .after(.redirects)) }
    return Client(environment: Environment(baseURL: baseURL), pipeline: pipeline, transport: stub)
  }

  /// Scripts a server that states the given values of `Location` for its uploads. The server stores all content.
  private func stubServer(_ locations: String..., failing isFailing: Bool = false) {
    var fields = HTTPFields()
    for location in locations { fields.append(HTTPField(name: .location, value: location)) }
    let created = fields
    stub.on { _, _ in
      true
    } reply: { exchange in
      guard exchange.method != .post else { return .status(201, fields: created) }
      var fields = HTTPFields()
      for (name, value) in [
        ("Upload-Offset", exchange.method == .head ? "0" : "5"),
        ("Upload-Complete", exchange.method == .head ? "?0" : "?1"),
      ] {
        if let name = HTTPField.Name(name) { fields[name] = value }
      }
      if isFailing, exchange.method == .patch { throw TransportError(.tls, requestState: .notSent) }
      return .status(204, fields: fields)
    }
  }

  private let film = Request<Void>.post("/files", content: .bytes(Data("films".utf8)))

  /// Runs a test with a store in a new folder.
  private func withStore(_ test: (UploadOptions, () -> [String]) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "apus-named-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await test(UploadOptions(store: FileTransferStore(folder))) {
      ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".json") }
    }
  }

  @Test(
    "After a Location that leads from https to http, no byte is sent, and the upload is not stored",
    arguments: Variant.allCases,
    [RedirectPolicy.follow, nil, RedirectPolicy.none])
  func refused(variant: Variant, policy: RedirectPolicy?) async throws {
    stubServer("http://films.example/files/1")
    try await withStore { options, records in
      let api = client(policy)
      let error = await failure { try await api.upload(film, by: variant.uploadProtocol, options: options) }
      #expect(error?.code == .malformedResponse && error?.requestState == .responded)
      #expect(error?.description.contains("http URL") == true)
      #expect(urls == ["POST https://films.example/files"] && records().isEmpty)
    }
  }

  @Test(
    "A Location that leads from https to http is used if the redirect policy permits it", arguments: Variant.allCases)
  func permitted(variant: Variant) async throws {
    stubServer("http://films.example/files/1")
    let own = film.redirects(.follow(allowsInsecure: true))
    #expect(try await client().upload(own, by: variant.uploadProtocol).size == 5)
    #expect(urls == ["POST https://films.example/files", "PATCH http://films.example/files/1"])
  }

  @Test("If the endpoint itself is http, its upload may have any URL", arguments: Variant.allCases)
  func http(variant: Variant) async throws {
    stubServer("http://store.example/files/1")
    #expect(try await client(.follow, "http://films.example").upload(film, by: variant.uploadProtocol).size == 5)
  }

  @Test(
    "A stored upload at an http URL is refused and removed, so that the next call starts over",
    arguments: Variant.allCases)
  func stored(variant: Variant) async throws {
    try await withStore { options, records in
      stubServer("http://films.example/files/1", failing: true)
      let careless = client(.follow(allowsInsecure: true))
      _ = await failure { try await careless.upload(film, by: variant.uploadProtocol, options: options) }
      try #require(records().count == 1)
      let before = stub.exchanges.count
      let error = await failure { try await client().upload(film, by: variant.uploadProtocol, options: options) }
      #expect(error?.code == .malformedResponse && stub.exchanges.count == before && records().isEmpty)
      stubServer("/files/2")
      #expect(try await client().upload(film, by: variant.uploadProtocol, options: options).size == 5)
    }
  }

  @Test("A stored upload at an http URL can be discarded without a request", arguments: Variant.allCases)
  func discarded(variant: Variant) async throws {
    try await withStore { options, records in
      stubServer("http://films.example/files/1", failing: true)
      let careless = client(.follow(allowsInsecure: true))
      _ = await failure { try await careless.upload(film, by: variant.uploadProtocol, options: options) }
      let before = stub.exchanges.count
      try await client().discardUpload(film, by: variant.uploadProtocol, options: options)
      #expect(stub.exchanges.count == before && records().isEmpty)
    }
  }

  @Test("An http endpoint that redirects to https must not state an http URL, either", arguments: Variant.allCases)
  func redirected(variant: Variant) async throws {
    stubServer("http://films.example/files/1")
    stub.on { request, _ in
      request.url == "http://films.example/files"
    } reply: { _ in
      .status(307, fields: [.location: "https://films.example/files"])
    }
    try await withStore { options, records in
      let api = client(.follow, "http://films.example")
      let error = await failure { try await api.upload(film, by: variant.uploadProtocol, options: options) }
      #expect(error?.code == .malformedResponse && records().isEmpty)
      #expect(urls == ["POST http://films.example/files", "POST https://films.example/files"])
    }
  }

  @Test("A Location may contain commas, and repeated equal Locations are treated as one", arguments: Variant.allCases)
  func commas(variant: Variant) async throws {
    for locations in [["/files/1, 2"], ["/files/1, 2", "https://films.example/files/1,%202"]] {
      let server = NamedUploadTests()
      if locations.count == 1 { server.stubServer(locations[0]) } else { server.stubServer(locations[0], locations[1]) }
      #expect(try await server.client().upload(server.film, by: variant.uploadProtocol).size == 5)
      #expect(server.urls.last == "PATCH https://films.example/files/1,%202")
    }
  }

  @Test("Several different Locations, or an unusable Location, are an error of the server", arguments: Variant.allCases)
  func unusable(variant: Variant) async throws {
    for locations in [["/files/1", "/files/2"], ["ftp://films.example/1"], ["https://a:b@films.example/1"]] {
      let server = NamedUploadTests()
      if locations.count == 1 { server.stubServer(locations[0]) } else { server.stubServer(locations[0], locations[1]) }
      let error = await failure { try await server.client().upload(server.film, by: variant.uploadProtocol) }
      #expect(error?.code == .malformedResponse && error?.transfer?.problem == .noLocation)
      #expect(server.urls == ["POST https://films.example/files"])
    }
  }
}
