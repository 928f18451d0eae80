import Apus
import Backend
import Foundation
import Testing

@testable import Demo

@Suite struct ClaimTests {
  /// Decodes rows from the log's JSON. Each row has one more request in progress than the row before.
  private func rows(_ items: String...) throws -> [LoggedExchange] {
    let common =
      #""sequence":1,"connection":1,"time":"2026-01-01T00:00:00Z","duration_milliseconds":1,"field_names":[]"#
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

  @Test("Outcomes are listed in order, with repetitions counted")
  func outcomes() throws {
    let rows = try rows(
      #""method":"GET","path":"/a","status":200,"client_left":false"#,
      #""method":"GET","path":"/a","status":200,"client_left":false"#,
      #""method":"GET","path":"/a","client_left":true"#,
      #""method":"GET","path":"/a","client_left":false"#)
    #expect(Claim.outcomes(rows) == "200 ×2, left, no response")
    #expect(Claim.outcomes([]) == "nothing")
  }

  @Test("Each different credential is listed once, and missing credentials are listed as none")
  func credentials() throws {
    let rows = try rows(
      #""method":"GET","path":"/a","credential":"bearer:b","client_left":false"#,
      #""method":"GET","path":"/a","credential":"bearer:a","client_left":false"#,
      #""method":"GET","path":"/a","credential":"bearer:b","client_left":false"#,
      #""method":"GET","path":"/a","client_left":false"#)
    #expect(Claim.credentials(rows) == "bearer:a, bearer:b, none")
  }

  @Test("The summary of successes omits failed rows, and the count includes all rows")
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

  @Test("The highest number of concurrent requests is printed only if it exceeds the limit")
  func concurrency() throws {
    let row = #""method":"GET","path":"/a","status":200,"client_left":false"#
    let rows = try rows(row, row, row)
    #expect(Claim.concurrency(upTo: 3)(rows) == "at most 3 concurrent")
    #expect(Claim.concurrency(upTo: 2)(rows) == "3 concurrent")
    #expect(Claim.concurrency(upTo: 2)([]) == "at most 2 concurrent")
  }

  @Test("Rows with and without idempotency keys are counted, and equal keys are recognized")
  func keys() throws {
    let row = #""method":"POST","path":"/a","status":502,"client_left":false"#
    let (one, other) = (#"\#(row),"idempotency_key":"a""#, #"\#(row),"idempotency_key":"b""#)
    let (repeated, different) = try (rows(row, one, one), rows(one, other))
    #expect(Claim.keys(repeated) == "1 without, 2 with the same")
    #expect(Claim.keys(different) == "0 without, 2 with 2 keys")
    #expect(Claim.keys([]) == "0 without, 0 with 0 keys")
  }

  @Test("Only rows that match the subject are counted, including unexpected rows")
  func matching() throws {
    let rows = try rows(
      #""method":"GET","path":"/a/1","status":200,"client_left":false"#,
      #""method":"GET","path":"/a/1/b","status":404,"client_left":false"#,
      #""method":"DELETE","path":"/a/1","status":204,"client_left":false"#,
      #""method":"GET","path":"/a/2","status":500,"client_left":false"#)
    #expect(claim("GET /a/1", "200").check(rows).isMet)
    #expect(claim("GET /a/*", "200").check(rows).actual == "200, 500")
    #expect(claim("PUT /a/1", "200").check(rows).actual == "nothing")
  }
}
