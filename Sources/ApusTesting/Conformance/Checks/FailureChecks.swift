import ApusCore
import HTTPTypes

extension TransportConformance {
  /// How exchanges fail.
  static let failureChecks: [Check] = [
    Check("says that nothing was sent when nobody accepts the connection") { bench in
      let error = try await bench.failure(of: ConformanceMessage("POST", "/"), at: bench.server.refusingURL)
      try require(error.kind, is: .connectionFailed, "the kind")
      try require(error.requestState, is: .notSent, "the request's state")
    },
    Check("says that the request may have been sent when the connection closes before the head") { bench in
      await bench.server.answer("/", ConformanceReply([.close]))
      let error = try await bench.failure(of: ConformanceMessage("POST", "/", content: .bytes(sample(10))))
      try require(error.kind, is: .broken, "the kind")
      try require(error.requestState, is: .maybeSent, "the request's state")
      try require(await bench.server.requests.count, is: 1, "the number of requests")
    },
    Check("says that the server answered when the content breaks off") { bench in
      for fields: HTTPFields in [[:], [.contentLength: "100"]] {
        await bench.server.answer(
          "/", ConformanceReply([.head(status: 200, fields: fields), .content(sample(50)), .close]))
        let error = try await bench.failure(of: ConformanceMessage("GET", "/"))
        try require(error.kind, is: .broken, "the kind")
        try require(error.requestState, is: .answered, "the request's state")
      }
    },
    Check("refuses an answer that is no HTTP") { bench in
      for garbage in ["SSH-2.0-OpenSSH_9.9\r\n\r\n", "HTTP/1.1 banana split\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n"] {
        await bench.server.answer("/", .raw(garbage))
        let error = try await bench.failure(of: ConformanceMessage("POST", "/"))
        try require([.malformedResponse, .broken].contains(error.kind), "the kind is \(error.kind)")
        try require(error.requestState != .notSent, "claims that nothing was sent")
      }
    },
    Check("works again after a failure") { bench in
      await bench.server.answer("/closed", ConformanceReply([.close]))
      await bench.server.answer("/", .status(200, content: "ok"))
      for _ in 0..<3 {
        _ = try await bench.failure(of: ConformanceMessage("POST", "/closed"))
        try require(try await bench.send(ConformanceMessage("GET", "/")).text, is: "ok", "the content")
      }
    },
  ]
}
