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
  /// Checks for the end of content.
  static let contentEndChecks: [Check] = [
    Check("reports exactly one end of content that is read completely: finished, with its length") { bench in
      await bench.server.reply(to: "/", with: .status(200, content: "0123456789"))
      for delivery in [ContentDelivery.buffered, .streamed] {
        let ends = try await bench.perform(ConformanceMessage("GET", "/"), delivery) { request, context in
          let response = try await bench.transport.send(request, context: context)
          let ends = Ends(of: response.content)
          _ = try await response.content.collect(upTo: 100)
          response.discard()
          return ends.all
        }
        try require(ends, is: ["finished 10"], "how the content ended")
      }
    },
    Check("reports exactly one end of content that breaks off: failed") { bench in
      let fields: HTTPFields = [.contentLength: "100"]
      await bench.server.reply(
        to:
          "/", with: ConformanceReply([.head(status: 200, fields: fields), .content(sample(50)), .close]))
      let ends = try await bench.perform(ConformanceMessage("GET", "/"), .streamed) { request, context in
        let response = try await bench.transport.send(request, context: context)
        let ends = Ends(of: response.content)
        _ = try? await response.content.collect(upTo: 100)
        response.discard()
        return ends.all
      }
      try require(ends, is: ["failed connectionLost responded"], "how the content ended")
    },
    Check("reports exactly one end of discarded content, and closes the exchange") { bench in
      await bench.server.reply(to: "/", with: held(after: 1000))
      let ends = try await bench.perform(ConformanceMessage("GET", "/"), .streamed) { request, context in
        let response = try await bench.transport.send(request, context: context)
        let ends = Ends(of: response.content)
        response.discard()
        response.discard()
        return ends.all
      }
      try await bench.server.waitForClientClose("/")
      try require(ends, is: ["discarded"], "how the content ended")
    },
    Check("reports the end of released content as discarded, and closes the exchange") { bench in
      await bench.server.reply(to: "/", with: held(after: 1000))
      let ends = try await bench.perform(ConformanceMessage("GET", "/"), .streamed) { request, context in
        let response = try await bench.transport.send(request, context: context)
        return Ends(of: response.content)
      }
      try await bench.server.waitForClientClose("/")
      // The transport closes the exchange before the content reports its end.
      try await ends.waitForFirst()
      try require(ends.all, is: ["discarded"], "how the content ended")
    },
    Check("throws CancellationError to the reader of content that is discarded") { bench in
      await bench.server.reply(to: "/", with: held(after: 1000))
      try await bench.perform(ConformanceMessage("GET", "/"), .streamed) { request, context in
        let response = try await bench.transport.send(request, context: context)
        let hasArrived = Gate()
        let reader = Task { try await response.content.collect(upTo: 1 << 20) { _ in hasArrived.open() } }
        try await hasArrived.wait()
        response.discard()
        try await requireCancelled(reader)
      }
      try await bench.server.waitForClientClose("/")
    },
    Check("closes an exchange whose content exceeds the limit") { bench in
      for (path, fields): (String, HTTPFields) in [("/chunks", [:]), ("/length", [.contentLength: "2001"])] {
        await bench.server.reply(
          to: path,
          with: ConformanceReply([
            .head(status: 200, fields: fields), .content(sample(2000)), .hold, .content(sample(1)),
          ]))
        let client = try bench.client(contentLimit: 1000) { request, context in
          try await bench.transport.send(ConformanceMessage("GET", path).message(like: request), context: context)
        }
        do {
          _ = try await client.send(Request<Data>.get("/"))
          throw ConformanceFailure("content above the limit was accepted")
        } catch let error as CallError {
          try require(error.code, is: .contentTooLarge, "the error's code")
        }
        try await bench.server.waitForClientClose(path)
      }
    },
  ]
}

/// A recorder of every end that content reports.
private final class Ends: Sendable {
  private let recorded = Mutex<[String]>([])
  private let hasEnded = Gate()

  init(of content: ResponseContent) {
    content.onEnd { [weak self] end in self?.record(end) }
  }

  var all: [String] { recorded.withLock { $0 } }

  func waitForFirst() async throws { try await hasEnded.wait() }

  private func record(_ end: ContentEnd) {
    let text =
      switch end {
      case .finished(let length): "finished \(length)"
      case .discarded: "discarded"
      case .failed(let error as TransportError): "failed \(error.code) \(error.requestState)"
      case .failed(let error): "failed \(type(of: error))"
      }
    recorded.withLock { $0.append(text) }
    hasEnded.open()
  }
}

extension TransportConformance {
  /// Checks that memory is bounded, however slowly the other side reads.
  static let backPressureChecks: [Check] = [
    Check("reads little more of a response than its reader consumes", needs: [.backPressure]) { bench in
      let times = 512
      await bench.server.reply(
        to:
          "/large",
        with: ConformanceReply([
          .head(status: 200, fields: [.contentLength: String(times << 16)]), .content(sample(1 << 16), times: times),
        ]))
      let client = try bench.client(contentLimit: times << 16) { request, context in
        try await bench.transport.send(
          ConformanceMessage("GET", "/large").message(like: request), context: context)
      }
      let count = try await client.withResponse(to: Request<Data>.get("/")) { response in
        var count = try await response.next()?.count ?? 0
        try await passTime(bench)
        try require(!(await bench.server.hasReplied("/large")), "32 MiB were read ahead of the reader")
        while let piece = try await response.next() { count += piece.count }
        return count
      }
      try require(count, is: times << 16, "the number of bytes")
    },
    Check("produces little more of a request's content than the server reads", needs: [.backPressure]) {
      bench in
      await bench.server.reply(
        to:
          "/large", with: ConformanceReply([.stopReading, .head(status: 200, fields: [.contentLength: "0"])]))
      let made = Mutex(0)
      let stream = ContentStream(isReplayable: false) {
        {
          let number = made.withLock { made in
            made += 1
            return made
          }
          return number <= 512 ? Data(count: 1 << 16) : nil
        }
      }
      let message = ConformanceMessage("PUT", "/large", content: .stream(stream))
      let call = Task { try await bench.send(message).status }
      try await passTime(bench)
      try require(made.withLock { $0 } < 256, "16 MiB were produced that the server did not read")
      await bench.server.release()
      try require(try await call.value, is: 200, "the status")
      try require(made.withLock { $0 }, is: 513, "the number of pieces requested")
    },
    Check(
      "closes an exchange whose content the server does not read, when the task is cancelled", needs: [.backPressure]
    ) { bench in
      await bench.server.reply(
        to:
          "/held", with: ConformanceReply([.stopReading, .head(status: 200, fields: [.contentLength: "0"])]))
      try await bench.perform(ConformanceMessage("PUT", "/held", content: .bytes(sample(16 << 20)))) {
        request, context in
        let task = Task { try await bench.transport.send(request, context: context) }
        try await passTime(bench)
        task.cancel()
        try await requireCancelled(task)
      }
      try require(await bench.server.requests.allSatisfy { $0.path != "/held" }, "the content arrived completely")
    },
  ]

  /// Waits long enough for everything to be transferred if there were no back-pressure.
  static func passTime(_ bench: ConformanceBench) async throws {
    await bench.server.reply(to: "/small", with: .status(200))
    for _ in 0..<200 { _ = try await bench.send(ConformanceMessage("GET", "/small")) }
  }
}
