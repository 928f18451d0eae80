import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Coding of profiles")
struct ProfileFormTests {
  private func profile(_ account: Account) throws -> Profile {
    Profile(
      try ProfileName("work"), origin: Origin(scheme: "https", host: "h.example", port: 8443), account: account,
      since: Date(timeIntervalSince1970: 1_700_000_000.75))
  }

  @Test(
    "A stored profile is decoded unchanged",
    arguments: [
      .bearer, .basic(user: "ada"), .digest(user: "Ada \"L.\" ü"), .oauth(user: nil), .oauth(user: "auth0|7:ü"),
    ] as [Account])
  func round(account: Account) throws {
    let profile = try profile(account)
    #expect(try Profile(profile.name, json: profile.json()) == profile)
  }

  @Test("A stored profile is readable")
  func text() throws {
    let profile = try profile(.basic(user: "ada"))
    let text = """
      {
        "credentials" : "\(profile.login)",
        "origin" : "https://h.example:8443",
        "scheme" : "basic",
        "since" : "2023-11-14T22:13:20Z",
        "user" : "ada"
      }

      """
    #expect(String(decoding: try profile.json(), as: UTF8.self) == text)
  }

  @Test("Every login has a unique ID")
  func logins() throws {
    let logins = try (0..<100).map { _ in try profile(.bearer).login }
    #expect(Set(logins).count == 100)
    #expect(logins.allSatisfy { Profile.isLogin($0) })
  }

  /// Returns the members of a profile with one changed; `nil` removes it.
  private func json(_ member: String, _ value: String?) throws -> Data {
    var members = [
      "origin": "https://h.example", "scheme": "basic", "user": "ada", "since": "2023-11-14T22:13:20Z",
      "credentials": "0123456789abcdef",
    ]
    members[member] = value
    return try JSONEncoder().encode(members)
  }

  @Test(
    "An invalid profile results in a reason",
    arguments: [
      ("origin", nil, "origin is missing"), ("origin", "", "origin has an invalid value"),
      ("origin", "h.example", "origin has an invalid value"),
      ("origin", "https://h.example/v1", "origin has an invalid value"),
      ("origin", "https://a:b@h.example", "origin has an invalid value"),
      ("scheme", "negotiate", "scheme and user do not match"),
      ("scheme", "bearer", "scheme and user do not match"),
      ("user", nil, "scheme and user do not match"),
      ("user", "", "scheme and user do not match"),
      ("user", "a:b", "scheme and user do not match"),
      ("user", "\u{1B}[2J", "scheme and user do not match"),
      ("since", "yesterday", "since has an invalid value"), ("credentials", nil, "credentials is missing"),
      ("credentials", "../../../../etc", "credentials has an invalid value"),
    ] as [(String, String?, String)])
  func unusable(member: String, value: String?, reason: String) throws {
    let (name, json) = (try ProfileName("work"), try self.json(member, value))
    #expect(throws: Profile.Unusable(reason: reason)) { try Profile(name, json: json) }
  }

  @Test("JSON that is not an object is rejected", arguments: ["", "{", "[]", "null", "7"])
  func noObject(text: String) throws {
    let name = try ProfileName("work")
    #expect(throws: Profile.Unusable.self) { try Profile(name, json: Data(text.utf8)) }
  }

  @Test("A list is printed in columns, or as JSON objects")
  func list() throws {
    var list = ProfileList()
    #expect(list.isEmpty && list.text == "")
    list.append(try profile(.bearer), .signedOut)
    list.append(try profile(.digest(user: "ada")), .signedIn)
    #expect(
      list.text == """
        work  bearer  https://h.example:8443  -    signed out
        work  digest  https://h.example:8443  ada  since 2023-11-14T22:13:20Z

        """)
    let members = try JSONDecoder().decode([[String: JSONValue]].self, from: list.json())
    #expect(members.map { $0["user"] } == [nil, .string("ada")])
    #expect(members.map { $0["signedIn"] } == [.bool(false), .bool(true)])
  }
}
