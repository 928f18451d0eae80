import ApusCore
import ApusWaiting
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConformance {
  /// Checks for the request's head.
  static let requestChecks: [Check] = [
    Check("sends every method token unchanged") { bench in
      for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "PURGE", "M-SEARCH", "lower"] {
        await bench.server.reply(to: "/\(method)", with: .status(200))
        _ = try await bench.send(ConformanceMessage(method, "/\(method)"))
        try require(try await bench.server.waitForRequest("/\(method)").method, is: method, "the method received")
      }
      await bench.server.reply(to: "/HEAD", with: .status(200))
      _ = try await bench.send(ConformanceMessage("HEAD", "/HEAD"))
      try require(try await bench.server.waitForRequest("/HEAD").method, is: "HEAD", "the method received")
    },
    Check("sends the request target unchanged") { bench in
      let targets = [
        "/a%2Fb", "/a+b%2B", "/100%25", "/%e4%F6", "/dots/a.b..c", "/q?a=1&b=%20+%2B&c", "/q?", "/q?x=a/b?c", "//two",
        "/semi;a=b,c", "/~tilde!$&'()*:@", "/empty//segment/",
      ]
      for target in targets {
        await bench.server.reply(to: String(target.prefix { $0 != "?" }), with: .status(200))
        _ = try await bench.send(ConformanceMessage("GET", target))
      }
      let received = await bench.server.requests.map(\.target)
      // An empty query may be removed (RFC 3986 §6.2.3 leaves that to the scheme).
      try require(received.map(\.withoutEmptyQuery), is: targets.map(\.withoutEmptyQuery), "the list of targets")
    },
    Check("sends every field with its value, and lines of the same name in order") { bench in
      await bench.server.reply(to: "/", with: .status(200))
      let fields: [(String, String)] = [
        ("X-First", "1"), ("X-Many", "a"), ("X-Middle", "m, n; q=\"0.5\""), ("X-Many", "b"), ("X-Many", "c"),
        ("Accept", "application/vnd.test+json"), ("X-Tab", "a\tb"), ("x-lower-case", "yes"),
      ]
      let message = ConformanceMessage("GET", "/", fields: try fields.map { try field($0.0, $0.1) })
      _ = try await bench.send(message)
      let received = try await bench.server.waitForRequest("/").fields
      let expected = HTTPFields(message.fields)
      for name in Set(message.fields.map(\.name)) {
        // Lines of the same name may be combined (RFC 9110 §5.3).
        try require(
          received[values: name].joined(separator: ", "), is: expected[values: name].joined(separator: ", "),
          "the field \(name.rawName)")
      }
    },
    Check("sends the authority in exactly one Host field") { bench in
      await bench.server.reply(to: "/", with: .status(200))
      _ = try await bench.send(ConformanceMessage("GET", "/"))
      let fields = try await bench.server.waitForRequest("/").fields
      let authority = bench.server.baseURL.split(separator: "/").last.map { String($0) }
      guard let host = HTTPField.Name("Host") else { return }
      let hosts = fields[values: host]
      try require(hosts, is: [authority ?? ""], "the list of Host fields")
    },
    Check("adds neither content nor its fields to a request without content") { bench in
      await bench.server.reply(to: "/", with: .status(200))
      for method in ["GET", "DELETE", "OPTIONS"] {
        _ = try await bench.send(ConformanceMessage(method, "/"))
      }
      for request in await bench.server.requests {
        try require(request.content.isEmpty, "\(request.method) was sent with content")
        try require(request.fields[.contentType] == nil, "\(request.method) was sent with Content-Type")
        try require(request.fields[.transferEncoding] == nil, "\(request.method) was sent with Transfer-Encoding")
        try require(["0", nil].contains(request.fields[.contentLength]), "\(request.method) announced content")
      }
    },
    Check("adds no credentials, cookies or validators of its own") { bench in
      await bench.server.reply(to: "/", with: .status(200))
      _ = try await bench.send(ConformanceMessage("GET", "/"))
      let fields = try await bench.server.waitForRequest("/").fields
      for name in ["Authorization", "Cookie", "Proxy-Authorization", "If-None-Match", "If-Modified-Since", "Range"] {
        try require(fields.allSatisfy { $0.name.canonicalName != name.lowercased() }, "\(name) was sent")
      }
    },
  ]

  static func field(_ name: String, _ value: String) throws -> HTTPField {
    guard let name = HTTPField.Name(name) else { throw ConformanceFailure("\(name) is not a field name") }
    return HTTPField(name: name, value: value)
  }
}

extension String {
  fileprivate var withoutEmptyQuery: String { hasSuffix("?") ? String(dropLast()) : self }
}

extension TransportConformance {
  /// Checks for the request's content.
  static let requestContentChecks: [Check] = [
    Check("sends bytes intact and announces their length") { bench in
      for count in [0, 1, 1000, 70_000] {
        let path = "/bytes/\(count)"
        let bytes = sample(count)
        let request = try await upload(.bytes(bytes), to: path, bench)
        try require(request.content == bytes, "the content differs (\(request.content.count) of \(count) bytes)")
        try require(request.fields[.contentLength], is: String(count), "Content-Length")
        try require(request.fields[.transferEncoding] == nil, "Transfer-Encoding was sent as well")
      }
    },
    Check("sends a file intact and announces its length") { bench in
      let url = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID())")
      let bytes = sample(300_000)
      try bytes.write(to: url)
      defer { try? FileManager.default.removeItem(at: url) }
      let request = try await upload(.file(try ContentFile(path: url.path)), to: "/file", bench)
      try require(request.content == bytes, "the content differs (\(request.content.count) of 300000 bytes)")
      try require(request.fields[.contentLength], is: "300000", "Content-Length")
    },
    Check("sends a stream of unknown length intact") { bench in
      let pieces = (1...20).map { sample($0 * 1000) }
      let request = try await upload(.stream(stream(pieces, length: nil)), to: "/stream", bench)
      try require(request.content == joined(pieces), "the content differs")
      try require(request.fields[.contentLength] == nil, "announced a length for a stream of unknown length")
    },
    Check("sends a stream of known length intact") { bench in
      let pieces = (1...20).map { sample($0 * 1000) }
      let request = try await upload(.stream(stream(pieces, length: 210_000)), to: "/stream", bench)
      try require(request.content == joined(pieces), "the content differs")
      try require(["210000", nil].contains(request.fields[.contentLength]), "announced another length")
    },
    Check("sends the message's Content-Type unchanged") { bench in
      let typed = ConformanceMessage(
        "POST", "/typed", fields: [try field("Content-Type", "application/vnd.test+json; v=1")],
        content: .bytes(Data("{}".utf8)))
      await bench.server.reply(to: "/typed", with: .status(200))
      _ = try await bench.send(typed)
      let request = try await bench.server.waitForRequest("/typed")
      try require(request.fields[.contentType], is: "application/vnd.test+json; v=1", "Content-Type")
    },
    Check("fails if a stream throws, and does not send its content as complete") { bench in
      await bench.server.reply(to: "/torn", with: .status(200))
      let torn = ContentStream(isReplayable: false) {
        let count = Mutex(0)
        return {
          let number = count.withLock { count in
            count += 1
            return count
          }
          guard number < 3 else { throw ConformanceFailure("the stream's own error") }
          return sample(10)
        }
      }
      let error = try await bench.failure(of: ConformanceMessage("POST", "/torn", content: .stream(torn)))
      try require(error.requestState != .responded, "the request's state is responded")
      try require(await bench.server.requests.isEmpty, "the server received the content as complete")
    },
    Check("reports the progress of sending content, up to its length") { bench in
      let progress = ProgressObserver()
      await bench.server.reply(to: "/up", with: .status(200))
      var settings = ClientSettings()
      settings.observers = [progress]
      let environment = Environment(baseURL: try BaseURL(bench.server.baseURL))
      let client = Client(environment: environment, transport: bench.transport, settings: settings)
      try await client.send(Request<Void>.post("/up", content: .bytes(sample(1_000_000))))
      let sent = try await progress.sent()
      try require(sent == sent.sorted(), "the number of bytes sent decreased")
      try require(sent.last, is: 1_000_000, "the last number of bytes sent")
    },
  ]

  /// Returns bytes of a pattern whose length is prime, so that lost or duplicated blocks are detected.
  static func sample(_ count: Int) -> Data {
    var bytes = Data(capacity: count + pattern.count)
    while bytes.count < count { bytes.append(pattern) }
    return bytes.prefix(count)
  }

  /// Joins all pieces. Appends whole pieces, which is much faster in debug builds.
  static func joined(_ pieces: [Data]) -> Data {
    pieces.reduce(into: Data()) { $0.append($1) }
  }

  private static let pattern = Data((0..<4093).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) })

  private static func stream(_ pieces: [Data], length: Int64?) -> ContentStream {
    ContentStream(length: length, isReplayable: true) {
      let rest = Mutex(pieces[...])
      return { rest.withLock { $0.popFirst() } }
    }
  }

  private static func upload(
    _ content: MessageContent, to path: String, _ bench: ConformanceBench
  ) async throws -> ConformanceRequest {
    await bench.server.reply(to: path, with: .status(200))
    _ = try await bench.send(ConformanceMessage("POST", path, content: content))
    return try await bench.server.waitForRequest(path)
  }
}

private final class ProgressObserver: CallObserver {
  private let all = Mutex<[Int64]>([])
  private let hasEnded = Gate()

  /// Returns all reported numbers of sent bytes once the call has ended. Observers may receive the last events after
  /// the call has returned.
  func sent() async throws -> [Int64] {
    try await hasEnded.wait()
    return all.withLock { $0 }
  }

  func observe(_ event: TraceEvent, of call: CallEntry) {
    switch event.kind {
    case .sendProgress(let sent, _): all.withLock { $0.append(sent) }
    case .succeeded, .failed: hasEnded.open()
    default: break
    }
  }
}
