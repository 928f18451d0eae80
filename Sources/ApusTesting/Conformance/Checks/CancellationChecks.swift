import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TransportConformance {
  /// What happens when the task is cancelled.
  static let cancellationChecks: [Check] = [
    Check("sends nothing when the task is cancelled before the exchange begins") { bench in
      await bench.server.answer("/", .status(200))
      try await bench.perform(ConformanceMessage("GET", "/")) { request, context in
        let begin = Gate()
        let task = Task {
          try? await begin.wait()
          return try await bench.transport.send(request, context: context)
        }
        task.cancel()
        try await requireCancelled(task)
      }
      // A request after it: if anything had been sent before, it would have arrived by now.
      await bench.server.answer("/after", .status(200))
      _ = try await bench.send(ConformanceMessage("GET", "/after"))
      try require(await bench.server.requests.map(\.path), is: ["/after"], "the list of requests")
    },
    Check("throws CancellationError while it waits for the head, and gives the exchange up") { bench in
      await bench.server.answer("/", ConformanceReply([.hold]))
      try await bench.perform(ConformanceMessage("GET", "/")) { request, context in
        let task = Task { try await bench.transport.send(request, context: context) }
        _ = try await bench.server.waitForRequest("/")
        task.cancel()
        try await requireCancelled(task)
        try await bench.server.waitForClose("/")
      }
    },
    Check("throws CancellationError while content arrives, and gives the exchange up") { bench in
      for delivery in [ContentDelivery.buffered, .streamed] {
        let path = "/\(delivery)"
        await bench.server.answer(path, held(after: 1000))
        try await bench.perform(ConformanceMessage("GET", path), delivery) { request, context in
          // Whether the head comes alone or with the content is the transport's choice when it is buffered.
          let hasArrived = Gate()
          let task = Task {
            let response = try await bench.transport.send(request, context: context)
            return try await response.content.collect(upTo: 1 << 20) { _ in hasArrived.open() }
          }
          _ = try await bench.server.waitForRequest(path)
          if delivery == .streamed { try await hasArrived.wait() }
          task.cancel()
          try await requireCancelled(task)
          try await bench.server.waitForClose(path)
        }
      }
    },
    Check("throws CancellationError while it sends content, and gives the exchange up") { bench in
      await bench.server.answer("/", .status(200))
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
      try require(await bench.server.requests.isEmpty, "the server took the content for complete")
    },
    Check("goes on with other exchanges when one is cancelled") { bench in
      await bench.server.answer("/held", ConformanceReply([.hold]))
      await bench.server.answer("/free", .status(200, content: "free"))
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
    Check("stands a storm of cancellations: each exchange ends, once, with an answer or CancellationError") { bench in
      await bench.server.answer("/", .status(200, content: "ok"))
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

  /// A head and so many bytes; the rest, which never comes unless the server releases it, is one more byte.
  static func held(after count: Int) -> ConformanceReply {
    ConformanceReply([
      .head(status: 200, fields: [.contentLength: String(count + 1)]), .content(sample(count)), .hold,
      .content(Data([0])),
    ])
  }

  static func requireCancelled<Value>(_ task: Task<Value, any Error>) async throws {
    switch await task.result {
    case .success: throw ConformanceFailure("the cancelled exchange gave an answer")
    case .failure(let error):
      try require(error is CancellationError, "the cancelled exchange threw \(type(of: error)): \(error)")
    }
  }
}
