import ApusCore
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@Suite("StubTransport as a transport")
struct StubConformanceTests {
  /// A stub has no connections, and therefore neither framing, codings nor back-pressure.
  private static let gaps: Set<TransportConformance.Capability> = [
    .interimResponses, .strictFraming, .contentCodings, .strictCodings, .backPressure,
  ]

  @Test("StubTransport passes the conformance checks", arguments: TransportConformance.checks(lacking: gaps))
  func conforms(check: TransportConformance.Check) async throws {
    let server = StubServer()
    try await check.run(server.stub, server)
  }

  @Test("A check is omitted only if it needs a capability that the transport lacks")
  func capabilities() {
    #expect(TransportConformance.checks().count == TransportConformance.checks.count)
    for capability in TransportConformance.Capability.allCases {
      let left = TransportConformance.checks(lacking: [capability])
      #expect(left.count < TransportConformance.checks.count)
      #expect(left.allSatisfy { !$0.needs.contains(capability) })
    }
  }

  @Test("Conformance checks have unique names")
  func names() {
    #expect(Set(TransportConformance.checks.map(\.name)).count == TransportConformance.checks.count)
  }
}

/// A stub transport with a fault.
private struct Faulty: Transport {
  let stub: StubTransport
  let fault: @Sendable (RequestMessage, ExchangeContext, StubTransport) async throws -> ResponseMessage

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try await fault(request, context, stub)
  }
}

private struct OwnError: Error {}

@Suite("Detection of faulty transports by the conformance suite")
struct FaultFindingTests {
  typealias Fault = @Sendable (RequestMessage, ExchangeContext, StubTransport) async throws -> ResponseMessage

  /// Returns the violation that a check finds in a transport with a fault, or `nil` if the check passes.
  private func finding(of name: String, limit: Duration = .seconds(120), _ fault: @escaping Fault) async throws
    -> String?
  {
    let check = try #require(TransportConformance.checks.first { $0.name == name })
    let server = StubServer()
    do {
      try await check.run(Faulty(stub: server.stub, fault: fault), server, limit: limit)
      return nil
    } catch let failure as ConformanceFailure {
      return failure.text
    }
  }

  @Test("The conformance suite detects a transport that changes the method")
  func method() async throws {
    let finding = try await finding(of: "sends every method token unchanged") { request, context, stub in
      var request = request
      request.head.method = HTTPRequest.Method(request.head.method.rawValue.uppercased()) ?? .get
      return try await stub.send(request, context: context)
    }
    #expect(finding == "sends every method token unchanged: the method received is LOWER, not lower")
  }

  @Test("The conformance suite detects a transport that throws its own error for a status")
  func judging() async throws {
    let finding = try await finding(of: "returns every final status without judging it") { request, context, stub in
      let response = try await stub.send(request, context: context)
      guard response.head.status.code < 500 else { throw OwnError() }
      return response
    }
    #expect(try #require(finding).contains("OwnError"))
  }

  @Test("The conformance suite detects a transport that stores cookies")
  func cookies() async throws {
    let jar = Log<String>()
    let finding = try await finding(of: "neither stores nor sends cookies") { request, context, stub in
      var request = request
      if let cookie = jar.all.last { request.head.headerFields[.cookie] = cookie }
      let response = try await stub.send(request, context: context)
      if let cookie = response.head.headerFields[.setCookie] { jar.add(cookie) }
      return response
    }
    #expect(try #require(finding).contains("a cookie was sent"))
  }

  @Test(
    "The conformance suite detects a transport that ignores cancellation and never returns",
    arguments: [
      "throws CancellationError while waiting for the head, and closes the exchange",
      "ends at the deadline while waiting for the head, and closes the exchange",
    ])
  func deaf(name: String) async throws {
    let finding = try await finding(of: name, limit: .milliseconds(100)) { request, context, stub in
      try await Task { try await stub.send(request, context: context) }.value
    }
    #expect(try #require(finding).contains("did not end within"))
  }

  @Test("The conformance suite detects a transport that wraps CancellationError in an error of its own")
  func wrapping() async throws {
    let name = "throws CancellationError while waiting for the head, and closes the exchange"
    let finding = try await finding(of: name) { request, context, stub in
      do {
        return try await stub.send(request, context: context)
      } catch is CancellationError {
        throw TransportError(.connectionLost, requestState: .maybeSent)
      }
    }
    #expect(try #require(finding).contains("the cancelled exchange threw TransportError"))
  }

  @Test("The conformance suite detects a transport that sends truncated content as complete")
  func torn() async throws {
    let name = "reports responded when the content breaks off"
    let finding = try await finding(of: name) { request, context, stub in
      let response = try await stub.send(request, context: context)
      let content = try? await response.content.collect(upTo: 1 << 26)
      return ResponseMessage(head: response.head, content: content.map { ResponseContent($0) } ?? .empty)
    }
    #expect(try #require(finding).contains("the exchange succeeded with status 200"))
  }

  @Test("The conformance suite detects a transport that reports notSent for a request that was sent")
  func wrongState() async throws {
    let name = "reports maybeSent when the connection closes before the head"
    let finding = try await finding(of: name) { request, context, stub in
      do {
        return try await stub.send(request, context: context)
      } catch var error as TransportError {
        error.requestState = .notSent
        throw error
      }
    }
    #expect(try #require(finding).contains("the request's state is notSent, not maybeSent"))
  }

  @Test("The conformance suite detects a transport that retains exchanges whose content was released")
  func keeping() async throws {
    let kept = Log<ResponseMessage>()
    let name = "reports the end of released content as discarded, and closes the exchange"
    let finding = try await finding(of: name, limit: .milliseconds(100)) { request, context, stub in
      let response = try await stub.send(request, context: context)
      kept.add(response)
      return response
    }
    #expect(try #require(finding).contains("did not end within"))
  }
}
