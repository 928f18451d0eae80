import Apus
import ArgumentParser
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("The command line of login")
struct LoginPlanTests {
  private func plan(_ arguments: String...) throws -> LoginPlan {
    try LoginCommand.parse(arguments).plan()
  }

  @Test("A command line specifies name, server and account")
  func parts() throws {
    let plan = try plan("work", "H.example:8443", "--basic", "ada")
    #expect(plan.name.description == "work")
    #expect(plan.origin.description == "https://h.example:8443")
    #expect(plan.account == .basic(user: "ada"))
    #expect(plan.prompt == "Password of ada for https://h.example:8443: ")
    #expect(try self.plan("work", "h.example", "--digest", "ada").account == .digest(user: "ada"))
    #expect(try self.plan("work", "h.example", "--bearer").prompt == "Token for https://h.example: ")
  }

  @Test(
    "Plain http is permitted for this machine, and for other machines with an option",
    arguments: [
      ("http://127.0.0.1:80", true), ("http://localhost:81/", true), ("http://[::1]:81", true), ("localhost", true),
      ("http://127.evil.example", false), ("http://localhost.evil.example", false), ("http://10.0.0.1", false),
      ("https://h.example", true),
    ])
  func plainHTTP(url: String, isTaken: Bool) throws {
    #expect((try? plan("work", url, "--bearer")) != nil || !isTaken)
    #expect((try? plan("work", url, "--bearer")) == nil || isTaken)
    #expect(try plan("work", url, "--bearer", "--allow-plain-http").account == .bearer)
  }

  @Test(
    "URLs that are not exactly a server are rejected",
    arguments: ["", "h.example/v1", "h.example/?a", "https://ada@h.example", "ftp://h.example", "/v1", "h.example:0"])
  func noServer(url: String) {
    #expect(throws: PlanError.self) { try plan("work", url, "--bearer") }
  }

  @Test(
    "There must be exactly one account, with a valid user",
    arguments: [
      [], ["--bearer", "--basic", "ada"], ["--basic", "ada", "--digest", "ada"], ["--basic", "ada:secret"],
      ["--digest", "a\u{7}"], ["--basic", "a\u{9B}2J"], ["--basic", ""], ["--digest", ""],
    ])
  func noAccount(options: [String]) throws {
    let command = try LoginCommand.parse(["work", "h.example"] + options)
    #expect(throws: PlanError.self) { try command.plan() }
  }

  @Test("Tokens that no request can carry are rejected", arguments: ["a b", "ä", "a\t", "a\u{7F}"])
  func noToken(text: String) throws {
    let plan = try plan("work", "h.example", "--bearer")
    #expect(throws: InputError.self) { try plan.check(Secret(text)) }
    try plan.check("a|b:c")
  }

  @Test("A password may contain any character except control characters")
  func password() throws {
    let plan = try plan("work", "h.example", "--basic", "ada")
    try plan.check("ä b:c")
    for secret: Secret in ["a\tb", "a\u{7F}", "a\u{80}", "a\u{9B}2J"] {
      #expect(throws: InputError.self) { try plan.check(secret) }
    }
  }

  @Test("The command line cannot contain a secret: --bearer has no value")
  func noSecret() {
    #expect(throws: (any Error).self) { try LoginCommand.parse(["work", "h.example", "--bearer", "t0ken"]) }
    #expect(throws: (any Error).self) { try LoginCommand.parse(["work", "h.example", "--bearer=t0ken"]) }
    #expect(throws: (any Error).self) { try LoginCommand.parse(["work", "h.example", "--password", "x"]) }
  }

  @Test("With --oauth a command line specifies server, client and scopes")
  func oauth() throws {
    let words = ["work", "h.example", "--oauth", "https://id.example/realm", "--client-id", "app"]
    let plan = try #require(try LoginCommand.parse(words).oauthPlan())
    #expect(plan.name.description == "work" && plan.origin.description == "https://h.example")
    #expect(plan.issuer == "https://id.example/realm" && plan.clientID == "app" && plan.scopes == [])
    #expect(plan.port == 0 && !plan.isOnAnotherDevice && !plan.bindsTokens)
    let more = ["--scope", "openid a", "--scope", "b", "--port", "8400", "--dpop"]
    let full = try #require(try LoginCommand.parse(words + more).oauthPlan())
    #expect(full.scopes == ["openid", "a", "b"] && full.port == 8400 && full.bindsTokens)
    #expect(try LoginCommand.parse(words + ["--device"]).oauthPlan()?.isOnAnotherDevice == true)
    #expect(try LoginCommand.parse(["work", "h.example", "--bearer"]).oauthPlan() == nil)
  }

  @Test("Tokens are sent to another machine without TLS only if this is allowed, like other secrets")
  func plainOAuth() throws {
    let words = ["work", "http://h.example", "--oauth", "https://id.example", "--client-id", "app"]
    #expect(throws: PlanError.self) { try LoginCommand.parse(words).oauthPlan() }
    #expect(try LoginCommand.parse(words + ["--allow-plain-http"]).oauthPlan() != nil)
  }
}
