import ApusCore
import Foundation
import Testing

@testable import ApusAWS

@Suite("Clock skew")
struct ClockSkewStateTests {
  private let home = Origin(scheme: "https", host: "example.amazonaws.com", port: 443)
  private let other = Origin(scheme: "https", host: "other.amazonaws.com", port: 443)

  private func rejection(
    _ code: AWSErrorCode, signed: TimeInterval = 0, ahead: TimeInterval?, from origin: Origin? = nil
  ) -> ClockSkewState.Rejection {
    ClockSkewState.Rejection(
      origin: origin ?? home, code: code, signedAt: .example.addingTimeInterval(signed), now: .example,
      serverDate: ahead.map { Date.example.addingTimeInterval($0) })
  }

  @Test("A rejection corrects the clock if its reason and the server's time indicate a skew")
  func table() {
    let rows: [(AWSErrorCode, TimeInterval?, TimeInterval?)] = [
      (.skewedClock, 3600, 3600), (.skewedClock, -3600, -3600), (.skewedClock, 31, 31), (.skewedClock, 30, nil),
      (.skewedClock, nil, nil), (.wrongSignature, 241, 241), (.wrongSignature, 240, nil), (.wrongSignature, -241, -241),
      (.unknown, 241, 241), (.unknown, 0, nil), (.other, 3600, nil), (.expiredCredentials, 3600, nil),
      (.skewedClock, 86_400, 86_400), (.skewedClock, -86_400, -86_400), (.skewedClock, 86_401, nil),
      (.skewedClock, -86_401, nil), (.wrongSignature, 1e9, nil), (.unknown, -1e9, nil),
    ]
    for (code, ahead, expected) in rows {
      var state = ClockSkewState()
      #expect(state.correct(after: rejection(code, ahead: ahead)) == expected, "\(code) \(ahead ?? .nan)")
      #expect(state.date(for: home, at: .example) == .example.addingTimeInterval(expected ?? 0))
    }
  }

  @Test("A correction applies to its origin only")
  func origins() {
    var state = ClockSkewState()
    _ = state.correct(after: rejection(.skewedClock, ahead: 3600))
    #expect(state.date(for: other, at: .example) == .example)
  }

  @Test(
    "A signature made before another call's correction is corrected too; a signature made after it is not")
  func concurrent() {
    var state = ClockSkewState()
    #expect(state.correct(after: rejection(.skewedClock, ahead: 3600)) == 3600)
    #expect(state.correct(after: rejection(.skewedClock, ahead: 3601)) == 3601)
    #expect(state.correct(after: rejection(.wrongSignature, signed: 3601, ahead: 3602)) == nil)
    #expect(state.date(for: home, at: .example) == .example.addingTimeInterval(3601))
  }

  @Test("After the device's clock was set, the next rejection updates the correction")
  func reset() {
    var state = ClockSkewState()
    _ = state.correct(after: rejection(.skewedClock, ahead: 3600))
    #expect(state.correct(after: rejection(.skewedClock, signed: 3600, ahead: 0)) == 0)
    #expect(state.date(for: home, at: .example) == .example)
  }

  @Test("A response without TLS, which could be manipulated, does not correct the clock")
  func plain() {
    let plain = Origin(scheme: "http", host: "example.amazonaws.com", port: 80)
    for code in [AWSErrorCode.skewedClock, .wrongSignature, .unknown] {
      var state = ClockSkewState()
      #expect(state.correct(after: rejection(code, ahead: 3600, from: plain)) == nil)
      #expect(state.date(for: plain, at: .example) == .example)
    }
  }

  @Test("A difference beyond the maximum does not change an earlier correction")
  func kept() {
    var state = ClockSkewState()
    _ = state.correct(after: rejection(.skewedClock, ahead: 3600))
    #expect(state.correct(after: rejection(.skewedClock, signed: 3600, ahead: 1e6)) == nil)
    #expect(state.date(for: home, at: .example) == .example.addingTimeInterval(3600))
  }

  @Test("The number of origins is bounded")
  func bounded() {
    var state = ClockSkewState()
    let origins = (0..<100).map { Origin(scheme: "https", host: "h\($0)", port: 443) }
    for origin in origins { _ = state.correct(after: rejection(.skewedClock, ahead: 3600, from: origin)) }
    #expect(origins.count { state.date(for: $0, at: .example) != .example } == ClockSkewState.limit)
  }
}
