import Foundation
import Testing

@testable import Backend

@Suite struct AuthorizationCodeTests {
  private let start = Date(timeIntervalSince1970: 1_000_000)
  private let grant = AuthorizationGrant(
    account: Account(id: 1, name: "Ann", email: "ann@example.com"), client: "demo-app", redirect: "r", challenge: "c")
  private let code = Data([1])

  /// The codes of a test. This type is a class, because `#expect` evaluates calls of mutating functions on a copy.
  private final class Codes {
    private var state: AuthorizationCodeState

    init(_ state: AuthorizationCodeState) { self.state = state }

    func redeem(_ code: Data, at time: Date) -> AuthorizationCodeState.Redemption { state.redeem(code, at: time) }

    func exchanged(_ code: Data, for session: Int64) -> Bool { state.exchanged(code, for: session) }
  }

  private func codes(_ added: Data..., capacity: Int = 10) -> Codes {
    var state = AuthorizationCodeState(capacity: capacity)
    for code in added { state.add(code, grant, at: start) }
    return Codes(state)
  }

  @Test func `A code is exchanged once; a second use reports the session of the first`() {
    let codes = codes(code)
    #expect(codes.redeem(code, at: start) == .granted(grant))
    #expect(codes.exchanged(code, for: 7))
    #expect(codes.redeem(code, at: start) == .reused(session: 7))
    #expect(codes.redeem(Data([2]), at: start) == .unknown)
  }

  @Test func `A second use of a code, before its session exists, ends the session`() {
    let codes = codes(code)
    #expect(codes.redeem(code, at: start) == .granted(grant))
    #expect(codes.redeem(code, at: start) == .reused(session: nil))
    #expect(!codes.exchanged(code, for: 7))
    #expect(codes.redeem(code, at: start) == .unknown)
  }

  @Test func `A code is valid for less than a minute, and its first use is recorded even if it is late`() {
    let (early, late) = (codes(code), codes(code))
    #expect(early.redeem(code, at: start.addingTimeInterval(59.9)) == .granted(grant))
    #expect(late.redeem(code, at: start.addingTimeInterval(60)) == .unknown)
    #expect(late.redeem(code, at: start) == .reused(session: nil))
  }

  @Test func `The oldest codes are dropped`() {
    let codes = codes(code, Data([2]), Data([3]), capacity: 2)
    #expect(codes.redeem(code, at: start) == .unknown)
    #expect(codes.exchanged(code, for: 7))
    #expect(codes.redeem(Data([2]), at: start) == .granted(grant))
    #expect(codes.redeem(Data([3]), at: start) == .granted(grant))
  }
}
