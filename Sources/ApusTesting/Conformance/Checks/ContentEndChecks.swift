import ApusCore
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TransportConformance {
  /// How content ends.
  static let contentEndChecks: [Check] = [
    Check("ends content that was read as finished, once, with its length") { bench in
      await bench.server.answer("/", .status(200, content: "0123456789"))
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
    Check("ends content that broke off as failed, once") { bench in
      let fields: HTTPFields = [.contentLength: "100"]
      await bench.server.answer(
        "/", ConformanceReply([.head(status: 200, fields: fields), .content(sample(50)), .close]))
      let ends = try await bench.perform(ConformanceMessage("GET", "/"), .streamed) { request, context in
        let response = try await bench.transport.send(request, context: context)
        let ends = Ends(of: response.content)
        _ = try? await response.content.collect(upTo: 100)
        response.discard()
        return ends.all
      }
      try require(ends, is: ["failed broken answered"], "how the content ended")
    },
    Check("ends content that is discarded, once, and gives the exchange up") { bench in
      await bench.server.answer("/", held(after: 1000))
      let ends = try await bench.perform(ConformanceMessage("GET", "/"), .streamed) { request, context in
        let response = try await bench.transport.send(request, context: context)
        let ends = Ends(of: response.content)
        response.discard()
        response.discard()
        return ends.all
      }
      try await bench.server.waitForClose("/")
      try require(ends, is: ["discarded"], "how the content ended")
    },
    Check("ends content that nobody holds any more, and gives the exchange up") { bench in
      await bench.server.answer("/", held(after: 1000))
      let ends = try await bench.perform(ConformanceMessage("GET", "/"), .streamed) { request, context in
        let response = try await bench.transport.send(request, context: context)
        return Ends(of: response.content)
      }
      try await bench.server.waitForClose("/")
      try require(ends.all, is: ["discarded"], "how the content ended")
    },
    Check("discards content while somebody reads it, and the reader gets CancellationError") { bench in
      await bench.server.answer("/", held(after: 1000))
      try await bench.perform(ConformanceMessage("GET", "/"), .streamed) { request, context in
        let response = try await bench.transport.send(request, context: context)
        let hasArrived = Gate()
        let reader = Task { try await response.content.collect(upTo: 1 << 20) { _ in hasArrived.open() } }
        try await hasArrived.wait()
        response.discard()
        try await requireCancelled(reader)
      }
      try await bench.server.waitForClose("/")
    },
    Check("gives an exchange up whose content passes the limit") { bench in
      for (path, fields): (String, HTTPFields) in [("/chunks", [:]), ("/length", [.contentLength: "2001"])] {
        await bench.server.answer(
          path,
          ConformanceReply([.head(status: 200, fields: fields), .content(sample(2000)), .hold, .content(sample(1))]))
        let client = try bench.client(contentLimit: 1000) { request, context in
          try await bench.transport.send(ConformanceMessage("GET", path).message(like: request), context: context)
        }
        do {
          _ = try await client.send(Request<Data>.get("/"))
          throw ConformanceFailure("more content was taken than allowed")
        } catch let error as CallError {
          try require(error.code, is: .contentTooLarge, "the error's code")
        }
        try await bench.server.waitForClose(path)
      }
    },
  ]
}

/// Notes how content ended, each time it says so.
private final class Ends: Sendable {
  private let noted = Mutex<[String]>([])

  init(of content: ResponseContent) {
    content.onEnd { [weak self] end in self?.note(end) }
  }

  var all: [String] { noted.withLock { $0 } }

  private func note(_ end: ContentEnd) {
    let text =
      switch end {
      case .finished(let length): "finished \(length)"
      case .discarded: "discarded"
      case .failed(let error as TransportError): "failed \(error.kind) \(error.requestState)"
      case .failed(let error): "failed \(type(of: error))"
      }
    noted.withLock { $0.append(text) }
  }
}
