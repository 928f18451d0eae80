import Apus
import Backend
import Foundation
import Testing

@testable import Demo

@Suite struct ClaimTests {
  /// Rows as the log's answer tells of them, each with one more request at work than the one before.
  private func rows(_ items: String...) throws -> [LoggedExchange] {
    let common = #""sequence":1,"connection":1,"time":"2026-01-01T00:00:00Z","duration_milliseconds":1"#
    let list = items.enumerated().map { "{\(common),\"at_work\":\($0 + 1),\($1)}" }.joined(separator: ",")
    return try LoggedExchange.rows(from: Data(#"{"items":[\#(list)]}"#.utf8))
  }

  private func claim(_ subject: String, _ expected: String) -> Claim {
    Claim(
      name: "x", server: Server("staging", at: "http://localhost", log: NoLog()), subject: subject, expected: expected)
  }

  private struct NoLog: ServerLog {
    func position() -> Int { 0 }
    func waitForArrivals(_ count: Int, of subject: String, since position: Int) {}
    func rows(since position: Int) -> [LoggedExchange] { [] }
  }

  @Test("what became of rows is told in order, repeats counted")
  func outcomes() throws {
    let rows = try rows(
      #""method":"GET","path":"/a","status":200,"client_left":false"#,
      #""method":"GET","path":"/a","status":200,"client_left":false"#,
      #""method":"GET","path":"/a","client_left":true"#,
      #""method":"GET","path":"/a","client_left":false"#)
    #expect(Claim.outcomes(rows) == "200 ×2, left, no answer")
    #expect(Claim.outcomes([]) == "nothing")
  }

  @Test("credentials are told once each, also when there are none")
  func credentials() throws {
    let rows = try rows(
      #""method":"GET","path":"/a","credential":"bearer:b","client_left":false"#,
      #""method":"GET","path":"/a","credential":"bearer:a","client_left":false"#,
      #""method":"GET","path":"/a","credential":"bearer:b","client_left":false"#,
      #""method":"GET","path":"/a","client_left":false"#)
    #expect(Claim.credentials(rows) == "bearer:a, bearer:b, none")
  }

  @Test("answers that are well are told alone, and rows by their number")
  func successes() throws {
    let rows = try rows(
      #""method":"GET","path":"/a","status":200,"client_left":false"#,
      #""method":"GET","path":"/a","status":401,"client_left":false"#,
      #""method":"GET","path":"/a","status":200,"client_left":true"#,
      #""method":"GET","path":"/a","status":200,"client_left":false"#)
    #expect(Claim.successes(rows) == "200 ×2")
    #expect(Claim.successes([]) == "nothing")
    #expect(Claim.count(rows) == "4")
    #expect(Claim.count([]) == "0")
  }

  @Test("how many requests were at work at a time is told where it is above the limit")
  func atOnce() throws {
    let row = #""method":"GET","path":"/a","status":200,"client_left":false"#
    let rows = try rows(row, row, row)
    #expect(Claim.atOnce(upTo: 3)(rows) == "3 at once or fewer")
    #expect(Claim.atOnce(upTo: 2)(rows) == "3 at once")
    #expect(Claim.atOnce(upTo: 2)([]) == "2 at once or fewer")
  }

  @Test("rows without an idempotency key are told apart from those with one, and whether it is one alone")
  func keys() throws {
    let row = #""method":"POST","path":"/a","status":502,"client_left":false"#
    let (one, other) = (#"\#(row),"idempotency_key":"a""#, #"\#(row),"idempotency_key":"b""#)
    let (repeated, different) = try (rows(row, one, one), rows(one, other))
    #expect(Claim.keys(repeated) == "1 without, 2 with the same")
    #expect(Claim.keys(different) == "0 without, 2 with 2 keys")
    #expect(Claim.keys([]) == "0 without, 0 with 0 keys")
  }

  @Test("only rows of the subject count, and a row too many is seen")
  func matching() throws {
    let rows = try rows(
      #""method":"GET","path":"/a/1","status":200,"client_left":false"#,
      #""method":"GET","path":"/a/1/b","status":404,"client_left":false"#,
      #""method":"DELETE","path":"/a/1","status":204,"client_left":false"#,
      #""method":"GET","path":"/a/2","status":500,"client_left":false"#)
    #expect(claim("GET /a/1", "200").check(rows).isMet)
    #expect(claim("GET /a/*", "200").check(rows).arrived == "200, 500")
    #expect(claim("PUT /a/1", "200").check(rows).arrived == "nothing")
  }
}
