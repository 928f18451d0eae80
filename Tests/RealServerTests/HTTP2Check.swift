#if os(Linux)
import Apus
import ApusNIO
import Foundation
import Synchronization
import Testing

/// A kind of exchange that succeeds over HTTP/2 with every server that can do its part.
enum HTTP2Check: String, CaseIterable, Sendable {
  case json, echo, streamedEcho, download, head, noContent, notModified, coded, interim, trailers, parallel, cancel,
    events, http1, priorKnowledge

  struct Film: Codable, Sendable, Hashable {
    let title: String
    let year: Int
  }

  // The resources of scripts/servers/resources.py.
  static let film = Film(title: "Alien", year: 1979)
  static let text = (0..<2000).map { "line \($0) of a text that is longer than one piece\n" }.joined()
  static let bigLength = 100 << 20
  static let eventCount = 40

  /// The pieces of the large resource: the bytes 0 to 250, repeated.
  private static let bigChecksum: UInt = {
    let piece = Data((0..<251 << 10).map { UInt8($0 % 251) })
    var checksum = Checksum()
    while checksum.length < bigLength { checksum.add(piece.prefix(bigLength - Int(checksum.length))) }
    return checksum.value
  }()

  static func all(except missing: Set<HTTP2Check> = []) -> [HTTP2Check] { allCases.filter { !missing.contains($0) } }

  func run(on server: RealServer) async throws {
    switch self {
    case .json: try await Self.json(server)
    case .echo: try await Self.echo(server)
    case .streamedEcho: try await Self.streamedEcho(server)
    case .download: try await Self.download(server)
    case .head: try await Self.head(server)
    case .noContent: try await Self.noContent(server)
    case .notModified: try await Self.notModified(server)
    case .coded: try await Self.coded(server)
    case .interim: try await Self.interim(server)
    case .trailers: try await Self.trailers(server)
    case .parallel: try await Self.parallel(server)
    case .cancel: try await Self.cancel(server)
    case .events: try await Self.eventStream(server)
    case .http1: try await Self.http1(server)
    case .priorKnowledge: try await Self.priorKnowledge(server)
    }
  }
}

// MARK: - Content

extension HTTP2Check {
  private static func json(_ server: RealServer) async throws {
    try await withHTTP2(server) { client, _ in
      for _ in 0..<3 {
        let response = try await client.response(to: Request<Film>.get("/film.json"))
        #expect(response.value == film)
        #expect(response.protocolVersion == .http2)
      }
    }
  }

  static func echo(by client: Client) async throws {
    let content = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 167 >> 3) })
    for _ in 0..<2 {
      let response = try await client.response(to: message(.post, "/echo").content(.bytes(content)))
      #expect(response.head.status == .ok)
      #expect(response.value.data == content)
      #expect(response.protocolVersion == .http2)
    }
  }

  private static func echo(_ server: RealServer) async throws {
    try await withHTTP2(server) { client, _ in try await echo(by: client) }
  }

  private static func streamedEcho(_ server: RealServer) async throws {
    let piece = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 91 >> 2) })
    var expected = Checksum()
    for _ in 0..<30 { expected.add(piece) }
    let pieces = ContentStream(isReplayable: false) {
      let left = Mutex(30)
      return {
        left.withLock {
          $0 -= 1
          return $0 >= 0
        } ? piece : nil
      }
    }
    let checksum = try await withHTTP2(server) { client, _ in
      try await client.withResponse(to: message(.post, "/echo").content(.stream(pieces))) { response in
        #expect(response.status == 200)
        var checksum = Checksum()
        while let piece = try await response.next() { checksum.add(piece) }
        return checksum
      }
    }
    #expect((checksum.length, checksum.value) == (expected.length, expected.value))
  }

  private static func download(_ server: RealServer) async throws {
    let checksum = try await withHTTP2(server) { client, _ in
      try await client.withResponse(to: message(.get, "/big")) { response in
        var checksum = Checksum()
        while let piece = try await response.next() { checksum.add(piece) }
        return checksum
      }
    }
    #expect((checksum.length, checksum.value) == (Int64(bigLength), bigChecksum))
  }

  private static func head(_ server: RealServer) async throws {
    try await withHTTP2(server) { client, _ in
      let head = try await client.response(to: message(.head, "/text.txt"))
      #expect(head.head.status == .ok)
      #expect(head.field("Content-Length") == "\(text.utf8.count)")
      #expect(head.value.data.isEmpty)
      let whole = try await client.response(to: message(.get, "/text.txt"))
      #expect(whole.value.string == text)
      #expect(!whole.isOnNewConnection)
    }
  }

  private static func noContent(_ server: RealServer) async throws {
    try await withHTTP2(server) { client, _ in
      for _ in 0..<3 {
        let nothing = try await client.response(to: message(.get, "/nothing"))
        #expect(nothing.head.status.code == 204)
        #expect(nothing.value.data.isEmpty)
      }
    }
  }

  private static func notModified(_ server: RealServer) async throws {
    try await withHTTP2(server) { client, _ in
      let whole = try await client.response(to: message(.get, "/text.txt"))
      var request = message(.get, "/text.txt")
      if let tag = whole.field("ETag") {
        request = request.field("If-None-Match", tag)
      } else {
        request = request.field("If-Modified-Since", try #require(whole.field("Last-Modified")))
      }
      let same = try await client.response(to: request)
      #expect(same.head.status.code == 304)
      #expect(same.value.data.isEmpty)
      #expect(!same.isOnNewConnection)
    }
  }

  private static func coded(_ server: RealServer) async throws {
    try await withHTTP2(server) { client, _ in
      let decoded = try await client.response(to: message(.get, "/zipped.txt"))
      #expect(decoded.value.string == text)
      let coded = try await client.response(to: message(.get, "/zipped.txt").field("Accept-Encoding", "gzip"))
      #expect(coded.field("Content-Encoding") == "gzip")
      #expect(coded.value.data.count < text.utf8.count / 2)
    }
  }

  private static func interim(_ server: RealServer) async throws {
    let interim = Mutex<[Int]>([])
    try await withHTTP2(server) { client, _ in
      let request = message(.get, "/early").setting(InterimResponses.self) { response in
        interim.withLock { $0.append(response.status.code) }
      }
      let response = try await client.response(to: request)
      #expect(response.value.string == "early\n")
    }
    #expect(interim.withLock { $0 } == [103])
  }

  private static func trailers(_ server: RealServer) async throws {
    try await withHTTP2(server) { client, _ in
      let response = try await client.response(to: message(.get, "/trailers"))
      #expect(response.value.string == "text\n")
      #expect(response.trailers.map { "\($0.name.canonicalName): \($0.value)" } == ["x-end: yes"])
    }
  }
}
#endif
