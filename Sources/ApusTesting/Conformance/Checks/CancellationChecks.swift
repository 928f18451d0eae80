import ApusCore
import ApusWaiting
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConformance {
  static let cancellationChecks: [Check] = [
    Check("sends nothing if the task is cancelled before the exchange starts") { bench in
      await bench.server.reply(to: "/", with: .status(200))
      try await bench.perform(ConformanceMessage("GET", "/")) { request, context in
        let begin = Gate()
        let task = Task {
          try? await begin.wait()
          return try await bench.transport.send(request, context: context)
        }
        task.cancel()
        try await requireCancelled(task)
      }
      // If anything had been sent, it would have arrived before this request.
      await bench.server.reply(to: "/after", with: .status(200))
      _ = try await bench.send(ConformanceMessage("GET", "/after"))
      try require(await bench.server.requests.map(\.path), is: ["/after"], "the list of requests")
    },
    Check("throws CancellationError while waiting for the head, and closes the exchange") { bench in
      await bench.server.reply(to: "/", with: ConformanceReply([.hold]))
      try await bench.perform(ConformanceMessage("GET", "/")) { request, context in
        let task = Task { try await bench.transport.send(request, context: context) }
        _ = try await bench.server.waitForRequest("/")
        task.cancel()
        try await requireCancelled(task)
        try await bench.server.waitForClientClose("/")
      }
    },
    Check("throws CancellationError while receiving content, and closes the exchange") { bench in
      for delivery in [ContentDelivery.buffered, .streamed] {
        let path = "/\(delivery)"
        await bench.server.reply(to: path, with: held(after: 1000))
        try await bench.perform(ConformanceMessage("GET", path), delivery) { request, context in
          // A transport may return the head of a buffered response early or together with the content.
          let hasArrived = Gate()
          let task = Task {
            let response = try await bench.transport.send(request, context: context)
            return try await response.content.collect(upTo: 1 << 20) { _ in hasArrived.open() }
          }
          _ = try await bench.server.waitForRequest(path)
          if delivery == .streamed { try await hasArrived.wait() }
          task.cancel()
          try await requireCancelled(task)
          try await bench.server.waitForClientClose(path)
        }
      }
    },
    Check("throws CancellationError while sending content, and closes the exchange") { bench in
      await bench.server.reply(to: "/", with: .status(200))
      let asked = Gate()
      let never = Gate()
      let endless = ContentStream(isReplayable: false) {
        {
          asked.open()
          try await never.wait()
          return nil
        }
      }
      try await bench.perform(ConformanceMessage("POST", "/", content: .stream(endless))) { request, context in
        let task = Task { try await bench.transport.send(request, context: context) }
        try await asked.wait()
        task.cancel()
        try await requireCancelled(task)
      }
      try require(await bench.server.requests.isEmpty, "the server received the content as complete")
    },
    Check("continues other exchanges when one is cancelled") { bench in
      await bench.server.reply(to: "/held", with: ConformanceReply([.hold]))
      await bench.server.reply(to: "/free", with: .status(200, content: "free"))
      try await bench.perform(ConformanceMessage("GET", "/held")) { request, context in
        let task = Task { try await bench.transport.send(request, context: context) }
        _ = try await bench.server.waitForRequest("/held")
        async let free = bench.send(ConformanceMessage("GET", "/free"))
        task.cancel()
        try await requireCancelled(task)
        try require(try await free.text, is: "free", "the content of the other exchange")
      }
      try require(try await bench.send(ConformanceMessage("GET", "/free")).text, is: "free", "the content afterwards")
    },
    Check("withstands a storm of cancellations: each exchange ends once, with a response or CancellationError") {
      bench in
      await bench.server.reply(to: "/", with: .status(200, content: "ok"))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<200 {
          group.addTask {
            try await bench.perform(ConformanceMessage("GET", "/")) { request, context in
              let task = Task {
                let response = try await bench.transport.send(request, context: context)
                return try await response.content.collect(upTo: 100)
              }
              for _ in 0..<number % 20 { await Task.yield() }
              if number % 3 != 0 { task.cancel() }
              do {
                try require(String(decoding: try await task.value, as: UTF8.self), is: "ok", "the content")
              } catch is CancellationError where number % 3 != 0 {}
            }
          }
        }
        try await group.waitForAll()
      }
      try require(try await bench.send(ConformanceMessage("GET", "/")).text, is: "ok", "the content afterwards")
    },
  ]

  /// Returns a reply with `count` bytes, and a last byte that is delayed until the server is released.
  static func held(after count: Int) -> ConformanceReply {
    ConformanceReply([
      .head(status: 200, fields: [.contentLength: String(count + 1)]), .content(sample(count)), .hold,
      .content(Data([0])),
    ])
  }

  static func requireCancelled<Value>(_ task: Task<Value, any Error>) async throws {
    switch await task.result {
    case .success: throw ConformanceFailure("the cancelled exchange returned a response")
    case .failure(let error):
      try require(error is CancellationError, "the cancelled exchange threw \(type(of: error)): \(error)")
    }
  }
}
