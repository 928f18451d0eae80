import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TransportConformance {
  /// Answers that break off: none may pass for a whole one.
  static let breakingOffChecks: [Check] = [
    breaksOff(
      "says that the request may have been sent when the head breaks off, wherever it does",
      ["H", "HTTP/1.1 20", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le"]
        + ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n"], .maybeSent),
    breaksOff(
      "says that the server answered when content breaks off, wherever it does",
      ["Content-Length: 3\r\n\r\nok", "Content-Length: 3\r\n\r\n"]
        + [
          "", "2", "2\r\n", "2\r\no", "2\r\nok", "2\r\nok\r\n", "2\r\nok\r\n0", "2\r\nok\r\n0\r\n",
          "2\r\nok\r\n0\r\nX: x\r\n",
        ]
        .map { "Transfer-Encoding: chunked\r\n\r\n\($0)" }, .answered),
    Check("fails the reader of streamed content that breaks off, after what had come") { bench in
      await bench.server.answer(
        "/",
        ConformanceReply([.head(status: 200, fields: [.contentLength: "2000"]), .content(sample(1000)), .close]))
      let client = try bench.client { request, context in
        try await bench.transport.send(request, context: context)
      }
      try await client.withResponse(to: Request<Data>.get("/")) { response in
        var count = 0
        do {
          while let piece = try await response.next() { count += piece.count }
          throw ConformanceFailure("the content ended as if it were whole")
        } catch let error as CallError {
          try require(error.code, is: .broken, "the error's code")
          try require(error.requestState, is: .answered, "the request's state")
        }
        try require(count <= 1000, "more came than was sent")
      }
    },
  ]

  private static func breaksOff(_ name: String, _ answers: [String], _ state: RequestState) -> Check {
    Check(name, needs: [.strictFraming]) { bench in
      for (number, answer) in answers.enumerated() {
        let path = "/\(number)"
        await bench.server.answer(path, .raw(state == .answered ? "HTTP/1.1 200 OK\r\n\(answer)" : answer))
        do {
          let error = try await bench.failure(of: ConformanceMessage("POST", path))
          try require(error.kind, is: .broken, "the kind")
          try require(error.requestState, is: state, "the request's state")
        } catch let failure as ConformanceFailure {
          throw ConformanceFailure("\(failure.text), after \(answer.debugDescription)")
        }
      }
    }
  }
}
