import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TransportConformance {
  /// Many and large exchanges.
  static let loadChecks: [Check] = [
    Check("keeps a hundred exchanges at once apart") { bench in
      for number in 0..<100 { await bench.server.answer("/\(number)", .status(200, content: "answer \(number)")) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<100 {
          group.addTask {
            let content = MessageContent.bytes(Data("question \(number)".utf8))
            let answer = try await bench.send(ConformanceMessage("POST", "/\(number)", content: content))
            try require(answer.text, is: "answer \(number)", "the content")
          }
        }
        try await group.waitForAll()
      }
      for request in await bench.server.requests {
        let text = String(decoding: request.content, as: UTF8.self)
        try require(text, is: "question \(request.path.dropFirst())", "the content of the request")
      }
      try require(await bench.server.requests.count, is: 100, "the number of requests")
    },
    Check("uses a connection for one exchange after another") { bench in
      await bench.server.answer("/", .status(200, content: "again"))
      for _ in 0..<20 { _ = try await bench.send(ConformanceMessage("GET", "/")) }
      let connections = Set(await bench.server.requests.map(\.connection))
      // One too many is no fault: the connection may come back a moment after the answer.
      try require(connections.count <= 5, "\(connections.count) connections were made for 20 exchanges in a row")
    },
    Check("gives megabytes whole, both ways") { bench in
      let content = sample(5_000_000)
      await bench.server.answer(
        "/large",
        ConformanceReply([.head(status: 200, fields: [.contentLength: "5000000"]), .content(content)]))
      let answer = try await bench.send(ConformanceMessage("PUT", "/large", content: .bytes(content)))
      try require(answer.content == content, "\(answer.content.count) bytes came back, or others")
      let request = try await bench.server.waitForRequest("/large")
      try require(request.content == content, "\(request.content.count) bytes arrived, or others")
    },
  ]
}
