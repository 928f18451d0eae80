import Apus
import Synchronization

/// The outcomes of calls, by the number assigned by the test.
final class Ledger: Sendable {
  typealias Outcome = Result<Int, CallError>

  private let outcomes = Mutex<[Int: [Outcome]]>([:])

  func add(_ outcome: Outcome, of number: Int) {
    outcomes.withLock { $0[number, default: []].append(outcome) }
  }

  /// Returns the outcomes of a call: exactly one in a correct run.
  func outcomes(of number: Int) -> [Outcome] {
    outcomes.withLock { $0[number] ?? [] }
  }
}
