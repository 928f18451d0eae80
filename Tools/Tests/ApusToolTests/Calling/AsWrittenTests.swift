import Apus
import ArgumentParser
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Messages as they were written")
struct AsWrittenTests {
  private func message(_ plan: SendPlan, _ connection: ConnectionPlan = ConnectionPlan()) async throws -> RequestMessage
  {
    let clients = Clients(transport: AnsweringTransport(), plan: connection)
    return try await clients.client(for: plan.url).message(for: try plan.request(connection))
  }

  private func plan(_ arguments: String...) throws -> SendPlan { try SendCommand.parse(arguments).plan() }

  @Test("repeated fields stay repeated and in order, in place of those that would be added")
  func fields() async throws {
    let message = try await message(
      plan("http://h/", "X-A:1", "Accept:text/csv", "x-a:2", "Content-Type:a/b", "-d", "x"))
    let fields = message.head.headerFields.map { "\($0.name.canonicalName): \($0.value)" }
    #expect(fields == ["x-a: 1", "accept: text/csv", "x-a: 2", "content-type: a/b"])
  }

  @Test("the target is not changed on the way", arguments: ["//a//b/?x=?&y", "/%252e%252e/", "/a%zz"])
  func target(target: String) async throws {
    #expect(try await message(plan("http://h" + target)).target == target)
  }

  @Test("fields that cannot be sent are refused", arguments: ["Content-Length:5", "Host:x", "A b:c", "A:b\r\nC:d"])
  func unusable(field: String) async throws {
    let plan = try plan("http://h/", "-H", field)
    await #expect(throws: CallError.self) { try await message(plan) }
  }

  @Test("credentials come from the options or else from the URL")
  func credentials() async throws {
    var connection = ConnectionPlan()
    let plan = try plan("http://ada:secret@h/")
    #expect(try await message(plan).head.headerFields[.authorization] == "Basic YWRhOnNlY3JldA==")
    connection.credentials = .bearer("t0ken")
    #expect(try await message(plan, connection).head.headerFields[.authorization] == "Bearer t0ken")
  }

  @Test("credentials of a profile go to its server, and to no other is anything made to be sent")
  func profile() async throws {
    let profile = Profile(
      try ProfileName("work"), origin: Origin(scheme: "http", host: "h", port: 80), account: .bearer,
      since: Date(timeIntervalSince1970: 0))
    var connection = ConnectionPlan()
    connection.credentials = .profile(SignedIn(profile: profile, credential: .token("t0ken")))
    let message = try await message(plan("http://h/"), connection)
    #expect(message.head.headerFields[.authorization] == "Bearer t0ken")
    for url in ["http://h:81/", "https://h/", "http://i/"] {
      let plan = try plan(url)
      let error = ProfileError.otherOrigin(profile.name, own: profile.origin, asked: plan.url.origin)
      await #expect(throws: error) { try await self.message(plan, connection) }
    }
  }

  @Test("one server has one client, another user another")
  func clients() throws {
    let clients = Clients(transport: AnsweringTransport(), plan: ConnectionPlan())
    let first = try clients.client(for: TargetURL("http://h/a")).calls
    #expect(try clients.client(for: TargetURL("http://h/b")).calls === first)
    #expect(try clients.client(for: TargetURL("http://u:p@h/b")).calls !== first)
    #expect(try clients.client(for: TargetURL("http://h:81/b")).calls !== first)
  }
}
