import ApusCore
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

private struct User: Codable, Hashable, Sendable { var name: String }
private struct Invalid: Error {}
private struct KeyMissing: LoggableError {
  var description: String { "the signing key is missing: set API_KEY" }
}

/// The service that an app's views use.
private protocol UserService: Sendable {
  func user(_ id: Int) async throws(CallError) -> User
}

/// A service without a server, for previews and tests.
private struct FakeUsers: UserService {
  func user(_ id: Int) async throws(CallError) -> User {
    guard id > 0 else { throw CallError(.rejected, status: 404, message: "There is no such user.") }
    do {
      return try Self.stored(id)
    } catch {
      throw CallError(converting: error)
    }
  }

  private static func stored(_ id: Int) throws -> User {
    if id > 99 { throw Invalid() }
    return User(name: "Ada")
  }
}

@Suite("Errors and responses made by apps")
struct OwnErrorsTests {
  @Test("A fake service fails like a service with a server")
  func fakeService() async throws {
    let service: any UserService = FakeUsers()
    #expect(try await service.user(1) == User(name: "Ada"))
    let error = try #require(await #expect(throws: CallError.self) { try await service.user(0) })
    #expect(error.code == .rejected && error.status == 404)
    #expect(error.message == "There is no such user." && error.errorDescription == error.message)
    #expect(error.rejection?.message == "There is no such user." && error.requestState == .responded)
    let converted = try #require(await #expect(throws: CallError.self) { try await service.user(100) })
    #expect(converted.code == .handler && converted.underlying is Invalid)
  }

  @Test("An error created from a code has default properties and a message", arguments: CallError.Code.allCases)
  func defaults(code: CallError.Code) {
    let error = CallError(code)
    #expect(error.code == code && error.status == nil && error.underlying == nil)
    #expect(error.isCancellation == (code == .cancelled))
    #expect((error.attempts == 0) == (error.requestState == .notSent))
    #expect(error.message.hasSuffix(".") && error.trace.events.isEmpty)
    #expect(error.description.hasPrefix("The call "), "\(error)")
    #expect(CallError(code, message: "Own words.").message == "Own words.")
    #expect(CallError(code, status: 500).status == 500 && CallError(code, status: 500).requestState == .responded)
  }

  @Test("Every property of an error can be set without changing copies")
  func set() {
    let plain = CallError(.rejected, status: 429)
    var error = plain
    error.retryAfter = .seconds(30)
    error.attempts = 3
    error.phase = .waiting
    error.requestState = .maybeSent
    error.detail = "the rate limit"
    error.codingPath = "items[3]"
    error.cancellation = .requested
    error.rejection = Rejection(status: 429, code: "slow_down", value: User(name: "Ada"))
    error.content = Content(data: Data(repeating: 97, count: CallError.contentLimit + 1))
    error.trace = Trace(
      id: "load", endpoint: EndpointIdentity(method: .get, template: "/users/{}"),
      events: [TraceEvent(kind: .started, instant: MonotonicInstant(sinceStart: .zero))])
    #expect(error.retryAfter == .seconds(30) && error.attempts == 3 && error.phase == .waiting)
    #expect(error.requestState == .maybeSent && error.detail == "the rate limit" && error.codingPath == "items[3]")
    #expect(error.cancellation == .requested && error.rejection(as: User.self) == User(name: "Ada"))
    #expect(error.content?.data.count == CallError.contentLimit)
    #expect(error.id == "load" && error.endpoint.template == "/users/{}" && error.trace.events.count == 1)
    #expect(error.code == .rejected && error.status == 429)
    #expect(plain.retryAfter == nil && plain.attempts == 1 && plain.detail.isEmpty && plain.trace.events.isEmpty)
  }

  @Test("Conversion returns a call error unchanged, recognizes cancellation, and stores any other error as the cause")
  func converting() {
    let error = CallError(.timeout, message: "Too slow.")
    #expect(CallError(converting: error).message == "Too slow.")
    #expect(CallError(converting: error).code == .timeout)
    let cancelled = CallError(converting: CancellationError())
    #expect(cancelled.isCancellation && cancelled.cancellation == .caller && cancelled.underlying == nil)
    let other = CallError(converting: Invalid())
    #expect(other.code == .handler && other.underlying is Invalid && other.detail == "Invalid")
    #expect(CallError(converting: KeyMissing()).detail == "the signing key is missing: set API_KEY")
  }

  @Test("A response made by a fake has value, status, fields and trace")
  func response() {
    let response = Response(value: User(name: "Ada"), status: 201, fields: ["ETag": "\"1\"", "a b": "2"])
    #expect(response.value.name == "Ada" && response.status == 201 && response.head.status == .created)
    #expect(
      response.field("etag") == "\"1\"" && response.head.headerFields.count == 1
        && response.trailers.isEmpty && response.trace.events.isEmpty)
    let plain = Response(value: 1)
    #expect(plain.status == 200 && plain.fields.isEmpty)
    #expect(Response(value: 1, status: 7000).status == 999 && Response(value: 1, status: -1).status == 0)
  }
}
