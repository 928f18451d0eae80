import HTTPTypes

extension TransportConformance {
  /// Checks for the policies that a transport leaves to middlewares: redirects, cookies, stored responses, credentials.
  static let neutralityChecks: [Check] = [
    Check("returns redirects without following them") { bench in
      for status in [301, 302, 303, 307, 308] {
        let fields: HTTPFields = [.location: bench.server.baseURL + "/elsewhere"]
        await bench.server.reply(to: "/\(status)", with: .status(status, fields: fields))
        let response = try await bench.send(ConformanceMessage("GET", "/\(status)"))
        try require(response.status, is: status, "the status")
        try require(response.head.headerFields[.location], is: fields[.location], "Location")
      }
      try require(await bench.server.requests.allSatisfy { $0.path != "/elsewhere" }, "a redirect was followed")
    },
    Check("neither stores nor sends cookies") { bench in
      await bench.server.reply(to: "/", with: .status(200, fields: [.setCookie: "id=secret; Path=/"]))
      let response = try await bench.send(ConformanceMessage("GET", "/"))
      try require(response.head.headerFields[.setCookie], is: "id=secret; Path=/", "Set-Cookie")
      _ = try await bench.send(ConformanceMessage("GET", "/"))
      try require(await bench.server.requests.allSatisfy { $0.fields[.cookie] == nil }, "a cookie was sent")
    },
    Check("stores no responses") { bench in
      await bench.server.reply(
        to:
          "/", with: .status(200, fields: [.cacheControl: "max-age=3600", .eTag: "\"v1\""], content: "stored?"))
      for _ in 0..<2 {
        try require(try await bench.send(ConformanceMessage("GET", "/")).text, is: "stored?", "the content")
      }
      let requests = await bench.server.requests
      try require(requests.count, is: 2, "the number of requests")
      try require(requests.allSatisfy { $0.fields[.ifNoneMatch] == nil }, "a validator was added")
    },
    Check("returns 401 for any challenge and responds to none") { bench in
      for (index, challenge) in ["Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\"", "Bearer", "Negotiate"]
        .enumerated()
      {
        let path = "/\(index)"
        await bench.server.reply(to: path, with: .status(401, fields: [.wwwAuthenticate: challenge], content: "denied"))
        let response = try await bench.send(ConformanceMessage("GET", path))
        try require(response.status, is: 401, "the status after \(challenge)")
        try require(response.text, is: "denied", "the content after \(challenge)")
        try require(response.head.headerFields[.wwwAuthenticate], is: challenge, "WWW-Authenticate")
      }
      let requests = await bench.server.requests
      try require(requests.count, is: 4, "the number of requests")
      try require(requests.allSatisfy { $0.fields[.authorization] == nil }, "credentials were sent")
    },
    Check("sends the credentials it is given and returns the 401") { bench in
      await bench.server.reply(to: "/", with: .status(401, fields: [.wwwAuthenticate: "Basic realm=\"r\""]))
      let message = ConformanceMessage("GET", "/", fields: [try field("Authorization", "Basic dTpw")])
      try require(try await bench.send(message).status, is: 401, "the status")
      let requests = await bench.server.requests
      try require(requests.map { $0.fields[.authorization] }, is: ["Basic dTpw"], "the list of Authorization fields")
    },
  ]
}
