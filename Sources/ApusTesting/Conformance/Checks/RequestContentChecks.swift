import ApusCore
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TransportConformance {
  /// What arrives of a request's content.
  static let requestContentChecks: [Check] = [
    Check("sends bytes whole and announces their length") { bench in
      for count in [0, 1, 1000, 70_000] {
        let path = "/bytes/\(count)"
        let bytes = sample(count)
        let request = try await upload(.bytes(bytes), to: path, bench)
        try require(request.content == bytes, "\(request.content.count) bytes arrived of \(count), or others")
        try require(request.fields[.contentLength], is: String(count), "Content-Length")
        try require(request.fields[.transferEncoding] == nil, "Transfer-Encoding was sent as well")
      }
    },
    Check("sends a file whole and announces its length") { bench in
      let url = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID())")
      let bytes = sample(300_000)
      try bytes.write(to: url)
      defer { try? FileManager.default.removeItem(at: url) }
      let request = try await upload(.file(try ContentFile(path: url.path)), to: "/file", bench)
      try require(request.content == bytes, "\(request.content.count) bytes arrived of 300000, or others")
      try require(request.fields[.contentLength], is: "300000", "Content-Length")
    },
    Check("sends a stream of unknown length whole") { bench in
      let pieces = (1...20).map { sample($0 * 1000) }
      let request = try await upload(.stream(stream(pieces, length: nil)), to: "/stream", bench)
      try require(request.content == joined(pieces), "the content differs from what was made")
      try require(request.fields[.contentLength] == nil, "announced a length that nobody knew")
    },
    Check("sends a stream of known length whole") { bench in
      let pieces = (1...20).map { sample($0 * 1000) }
      let request = try await upload(.stream(stream(pieces, length: 210_000)), to: "/stream", bench)
      try require(request.content == joined(pieces), "the content differs from what was made")
      try require(["210000", nil].contains(request.fields[.contentLength]), "announced another length")
    },
    Check("sends the content's type as the message says, and none of its own") { bench in
      let typed = ConformanceMessage(
        "POST", "/typed", fields: [try field("Content-Type", "application/vnd.test+json; v=1")],
        content: .bytes(Data("{}".utf8)))
      await bench.server.answer("/typed", .status(200))
      _ = try await bench.send(typed)
      let request = try await bench.server.waitForRequest("/typed")
      try require(request.fields[.contentType], is: "application/vnd.test+json; v=1", "Content-Type")
    },
    Check("fails when a stream gives up, and does not pass its content off as complete") { bench in
      await bench.server.answer("/torn", .status(200))
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
      try require(error.requestState != .answered, "claims that the server answered")
      try require(await bench.server.requests.isEmpty, "the server took the torn content for complete")
    },
    Check("tells how much of the content has left, up to all of it") { bench in
      let progress = ProgressObserver()
      await bench.server.answer("/up", .status(200))
      var settings = ClientSettings()
      settings.observers = [progress]
      let environment = Environment(baseURL: try BaseURL(bench.server.baseURL))
      let client = Client(environment: environment, transport: bench.transport, settings: settings)
      try await client.send(Request<Void>.post("/up", content: .bytes(sample(1_000_000))))
      let sent = progress.sent
      try require(sent == sent.sorted(), "the number of bytes sent went back")
      try require(sent.last, is: 1_000_000, "the last number of bytes sent")
    },
  ]

  /// Bytes in a pattern whose length is a prime, so that blocks that are lost or doubled show.
  static func sample(_ count: Int) -> Data {
    var bytes = Data(capacity: count + pattern.count)
    while bytes.count < count { bytes.append(pattern) }
    return bytes.prefix(count)
  }

  /// All pieces in one, each at once: byte by byte is very slow where nothing is optimised.
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
    await bench.server.answer(path, .status(200))
    _ = try await bench.send(ConformanceMessage("POST", path, content: content))
    return try await bench.server.waitForRequest(path)
  }
}

private final class ProgressObserver: CallObserver {
  private let all = Mutex<[Int64]>([])

  var sent: [Int64] { all.withLock { $0 } }

  func observe(_ event: TraceEvent, of call: CallEntry) {
    if case .sendProgress(let sent, _) = event.kind { all.withLock { $0.append(sent) } }
  }
}
