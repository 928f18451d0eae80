import Apus
import ArgumentParser
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Requests as written")
struct AsWrittenTests {
  private func message(_ plan: SendPlan, _ connection: ConnectionPlan = ConnectionPlan()) async throws -> RequestMessage
  {
    let clients = Clients(transport: AnsweringTransport(), plan: connection)
    return try await clients.client(for: plan.request.url).message(for: try plan.endpoint(connection))
  }

  private func plan(_ arguments: String...) throws -> SendPlan { try SendCommand.parse(arguments).plan() }

  @Test("Repeated fields stay separate and in order, and replace default fields")
  func fields() async throws {
    let message = try await message(
      plan("http://h/", "X-A:1", "Accept:text/csv", "x-a:2", "Content-Type:a/b", "-d", "x"))
    let fields = message.head.headerFields.map { "\($0.name.canonicalName): \($0.value)" }
    #expect(fields == ["x-a: 1", "accept: text/csv", "x-a: 2", "content-type: a/b"])
  }

  @Test("The target is sent unchanged", arguments: ["//a//b/?x=?&y", "/%252e%252e/", "/a%zz"])
  func target(target: String) async throws {
    #expect(try await message(plan("http://h" + target)).target == target)
  }

  @Test("Invalid fields are rejected", arguments: ["Content-Length:5", "Host:x", "A b:c", "A:b\r\nC:d"])
  func unusable(field: String) async throws {
    let plan = try plan("http://h/", "-H", field)
    await #expect(throws: CallError.self) { try await message(plan) }
  }

  @Test("Credentials come from the options, otherwise from the URL")
  func credentials() async throws {
    var connection = ConnectionPlan()
    let plan = try plan("http://ada:secret@h/")
    #expect(try await message(plan).head.headerFields[.authorization] == "Basic YWRhOnNlY3JldA==")
    connection.credentials = .bearer("t0ken")
    #expect(try await message(plan, connection).head.headerFields[.authorization] == "Bearer t0ken")
  }

  @Test("A profile's credentials are sent to its server, and requests to other servers are refused")
  func profile() async throws {
    let profile = Profile(
      try ProfileName("work"), origin: Origin(scheme: "http", host: "h", port: 80), account: .bearer,
      since: Date(timeIntervalSince1970: 0))
    var connection = ConnectionPlan()
    connection.credentials = .profile(SignedIn(profile: profile, credentials: .credential(.token("t0ken"))))
    let message = try await message(plan("http://h/"), connection)
    #expect(message.head.headerFields[.authorization] == "Bearer t0ken")
    for url in ["http://h:81/", "https://h/", "http://i/"] {
      let plan = try plan(url)
      let error = ProfileError.otherOrigin(profile.name, own: profile.origin, requested: plan.request.url.origin)
      await #expect(throws: error) { try await self.message(plan, connection) }
    }
  }

  @Test("Each server and user has one client")
  func clients() throws {
    let clients = Clients(transport: AnsweringTransport(), plan: ConnectionPlan())
    let first = try clients.client(for: TargetURL("http://h/a")).calls
    #expect(try clients.client(for: TargetURL("http://h/b")).calls === first)
    #expect(try clients.client(for: TargetURL("http://u:p@h/b")).calls !== first)
    #expect(try clients.client(for: TargetURL("http://h:81/b")).calls !== first)
  }
}
