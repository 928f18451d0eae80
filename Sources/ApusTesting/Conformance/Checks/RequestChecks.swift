import ApusCore
import HTTPTypes

extension TransportConformance {
  /// What arrives of a request's head.
  static let requestChecks: [Check] = [
    Check("sends every method's token exactly") { bench in
      for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "PURGE", "M-SEARCH", "lower"] {
        await bench.server.answer("/\(method)", .status(200))
        _ = try await bench.send(ConformanceMessage(method, "/\(method)"))
        try require(try await bench.server.waitForRequest("/\(method)").method, is: method, "the method received")
      }
      await bench.server.answer("/HEAD", .status(200))
      _ = try await bench.send(ConformanceMessage("HEAD", "/HEAD"))
      try require(try await bench.server.waitForRequest("/HEAD").method, is: "HEAD", "the method received")
    },
    Check("sends the request target as it is") { bench in
      let targets = [
        "/a%2Fb", "/a+b%2B", "/100%25", "/%e4%F6", "/dots/a.b..c", "/q?a=1&b=%20+%2B&c", "/q?", "/q?x=a/b?c", "//two",
        "/semi;a=b,c", "/~tilde!$&'()*:@", "/empty//segment/",
      ]
      for target in targets {
        await bench.server.answer(String(target.prefix { $0 != "?" }), .status(200))
        _ = try await bench.send(ConformanceMessage("GET", target))
      }
      let received = await bench.server.requests.map(\.target)
      // A lone question mark at the end means the same without it (RFC 3986 §6.2.3 leaves it to the scheme).
      try require(received.map(\.withoutEmptyQuery), is: targets.map(\.withoutEmptyQuery), "the list of targets")
    },
    Check("sends every field with its value, the lines of one name in their order") { bench in
      await bench.server.answer("/", .status(200))
      let fields: [(String, String)] = [
        ("X-First", "1"), ("X-Many", "a"), ("X-Middle", "m, n; q=\"0.5\""), ("X-Many", "b"), ("X-Many", "c"),
        ("Accept", "application/vnd.test+json"), ("X-Tab", "a\tb"), ("x-lower-case", "yes"),
      ]
      let message = ConformanceMessage("GET", "/", fields: try fields.map { try field($0.0, $0.1) })
      _ = try await bench.send(message)
      let received = try await bench.server.waitForRequest("/").fields
      let expected = HTTPFields(message.fields)
      for name in Set(message.fields.map(\.name)) {
        // Lines of one name mean the same when they are combined (RFC 9110 §5.3).
        try require(
          received[values: name].joined(separator: ", "), is: expected[values: name].joined(separator: ", "),
          "the field \(name.rawName)")
      }
    },
    Check("sends the authority in Host, once") { bench in
      await bench.server.answer("/", .status(200))
      _ = try await bench.send(ConformanceMessage("GET", "/"))
      let fields = try await bench.server.waitForRequest("/").fields
      let authority = bench.server.baseURL.split(separator: "/").last.map { String($0) }
      guard let host = HTTPField.Name("Host") else { return }
      let hosts = fields[values: host]
      try require(hosts, is: [authority ?? ""], "the list of Host fields")
    },
    Check("adds no content and none of its fields to a request without content") { bench in
      await bench.server.answer("/", .status(200))
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
    Check("passes on no credentials, cookies or validators of its own") { bench in
      await bench.server.answer("/", .status(200))
      _ = try await bench.send(ConformanceMessage("GET", "/"))
      let fields = try await bench.server.waitForRequest("/").fields
      for name in ["Authorization", "Cookie", "Proxy-Authorization", "If-None-Match", "If-Modified-Since", "Range"] {
        try require(fields.allSatisfy { $0.name.canonicalName != name.lowercased() }, "\(name) was sent")
      }
    },
  ]

  static func field(_ name: String, _ value: String) throws -> HTTPField {
    guard let name = HTTPField.Name(name) else { throw ConformanceFailure("\(name) is no field name") }
    return HTTPField(name: name, value: value)
  }
}

extension String {
  fileprivate var withoutEmptyQuery: String { hasSuffix("?") ? String(dropLast()) : self }
}
