import ApusTestServer
import Synchronization

/// A tolerant server: it accepts a refresh token again until a token that it issued in exchange was used, because the
/// response may have been lost.
final class TokenServer: Sendable {
  private struct State: Sendable {
    var last = 0
    /// The numbers of the valid token pairs. Pair 0 permits only a refresh.
    var good: Set<Int> = [0]
    var refreshes = 0

    mutating func use(_ number: Int) {
      good = good.filter { $0 >= number }
    }
  }

  private let state = Mutex(State())
  /// Delays the responses to refreshes; `nil`: no delay.
  private let gate: Gate?

  init(gate: Gate? = nil) {
    self.gate = gate
  }

  /// The number of refreshes with a valid token.
  var refreshes: Int { state.withLock { $0.refreshes } }

  @Sendable func answer(to request: RecordedRequest) async -> Reply {
    if request.path == "/token" {
      if let gate { try? await gate.wait() }
      return refreshed(request)
    }
    let number = request.fields["Authorization"].flatMap { Int($0.trimmingPrefix("Bearer access-")) }
    let isGood = state.withLock { state -> Bool in
      guard let number, number > 0, state.good.contains(number) else { return false }
      state.use(number)
      return true
    }
    return isGood ? .text("for access-\(number ?? 0)") : .json(#"{"message":"who are you?"}"#, status: 401)
  }

  private func refreshed(_ request: RecordedRequest) -> Reply {
    let number = Int(request.text.trimmingPrefix("refresh_token=refresh-"))
    return state.withLock { state -> Reply in
      guard let number, state.good.contains(number) else {
        return Reply.json(#"{"error":"invalid_grant"}"#, status: 400)
      }
      state.use(number)
      state.refreshes += 1
      state.last += 1
      let new = state.last
      state.good.insert(new)
      return Reply.json(
        #"{"access_token":"access-\#(new)","refresh_token":"refresh-\#(new)","expires_in":3600}"#)
    }
  }
}
