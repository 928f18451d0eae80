import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConformance {
  /// Checks for the reuse of connections.
  static let connectionChecks: [Check] = [
    Check("opens a new connection after a response with Connection: close") { bench in
      await bench.server.reply(to: "/", with: .status(200, fields: [.connection: "close"]))
      for _ in 0..<3 {
        try require(try await bench.send(ConformanceMessage("GET", "/")).status, is: 200, "the status")
      }
      let connections = Set(await bench.server.requests.map(\.connection))
      try require(connections.count, is: 3, "the number of connections")
    },
    Check("recovers when the server closes the connection after a response without announcing it") { bench in
      let head = ConformanceReply.Step.head(status: 200, fields: [.contentLength: "2"])
      await bench.server.reply(to: "/", with: ConformanceReply([head, .content(Data("ok".utf8)), .close]))
      for _ in 0..<20 {
        try require(try await bench.send(ConformanceMessage("GET", "/")).text, is: "ok", "the content")
      }
    },
    Check("never reads bytes after a response as the next response", needs: [.strictFraming]) { bench in
      let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
      let poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
      await bench.server.reply(to: "/", with: ConformanceReply([.raw(Data((response + poison).utf8))]))
      await bench.server.reply(to: "/next", with: .status(200, content: "next"))
      for _ in 0..<20 {
        try require(try await bench.send(ConformanceMessage("GET", "/")).text, is: "ok", "the content")
        try require(try await bench.send(ConformanceMessage("GET", "/next")).text, is: "next", "the next content")
      }
    },
  ]
}

extension TransportConformance {
  /// Checks for failed exchanges.
  static let failureChecks: [Check] = [
    Check("reports notSent when the connection is refused") { bench in
      let error = try await bench.failure(of: ConformanceMessage("POST", "/"), at: bench.server.refusingURL)
      try require(error.code, is: .connectionFailed, "the code")
      try require(error.requestState, is: .notSent, "the request's state")
    },
    Check("reports maybeSent when the connection closes before the head") { bench in
      await bench.server.reply(to: "/", with: ConformanceReply([.close]))
      let error = try await bench.failure(of: ConformanceMessage("POST", "/", content: .bytes(sample(10))))
      try require(error.code, is: .connectionLost, "the code")
      try require(error.requestState, is: .maybeSent, "the request's state")
      try require(await bench.server.requests.count, is: 1, "the number of requests")
    },
    Check("reports responded when the content breaks off") { bench in
      for fields: HTTPFields in [[:], [.contentLength: "100"]] {
        await bench.server.reply(
          to:
            "/", with: ConformanceReply([.head(status: 200, fields: fields), .content(sample(50)), .close]))
        let error = try await bench.failure(of: ConformanceMessage("GET", "/"))
        try require(error.code, is: .connectionLost, "the code")
        try require(error.requestState, is: .responded, "the request's state")
      }
    },
    Check("refuses a response that is not HTTP") { bench in
      for garbage in ["SSH-2.0-OpenSSH_9.9\r\n\r\n", "HTTP/1.1 banana split\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n"] {
        await bench.server.reply(to: "/", with: .raw(garbage))
        let error = try await bench.failure(of: ConformanceMessage("POST", "/"))
        try require([.malformedResponse, .connectionLost].contains(error.code), "the code is \(error.code)")
        try require(error.requestState != .notSent, "the request's state is notSent")
      }
    },
    Check("works again after a failure") { bench in
      await bench.server.reply(to: "/closed", with: ConformanceReply([.close]))
      await bench.server.reply(to: "/", with: .status(200, content: "ok"))
      for _ in 0..<3 {
        _ = try await bench.failure(of: ConformanceMessage("POST", "/closed"))
        try require(try await bench.send(ConformanceMessage("GET", "/")).text, is: "ok", "the content")
      }
    },
  ]
}

extension TransportConformance {
  /// Checks for many exchanges and large content.
  static let loadChecks: [Check] = [
    Check("keeps a hundred concurrent exchanges apart") { bench in
      for number in 0..<100 {
        await bench.server.reply(to: "/\(number)", with: .status(200, content: "response \(number)"))
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<100 {
          group.addTask {
            let content = MessageContent.bytes(Data("question \(number)".utf8))
            let response = try await bench.send(ConformanceMessage("POST", "/\(number)", content: content))
            try require(response.text, is: "response \(number)", "the content")
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
    Check("reuses a connection for consecutive exchanges") { bench in
      await bench.server.reply(to: "/", with: .status(200, content: "again"))
      for _ in 0..<20 { _ = try await bench.send(ConformanceMessage("GET", "/")) }
      let connections = Set(await bench.server.requests.map(\.connection))
      // More than one connection is permitted, because a connection may become idle a moment after the response.
      try require(connections.count <= 5, "\(connections.count) connections were opened for 20 consecutive exchanges")
    },
    Check("transfers megabytes intact in both directions") { bench in
      let content = sample(5_000_000)
      await bench.server.reply(
        to:
          "/large",
        with: ConformanceReply([.head(status: 200, fields: [.contentLength: "5000000"]), .content(content)]))
      let response = try await bench.send(ConformanceMessage("PUT", "/large", content: .bytes(content)))
      try require(response.content == content, "the content received differs (\(response.content.count) bytes)")
      let request = try await bench.server.waitForRequest("/large")
      try require(request.content == content, "the content sent differs (\(request.content.count) bytes)")
    },
  ]
}
