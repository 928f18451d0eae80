import Apus
import Synchronization

/// The outcomes of calls, by the number a test gave them.
final class Ledger: Sendable {
  typealias Outcome = Result<Int, CallError>

  private let outcomes = Mutex<[Int: [Outcome]]>([:])

  func add(_ outcome: Outcome, of number: Int) {
    outcomes.withLock { $0[number, default: []].append(outcome) }
  }

  /// How a call ended: exactly one outcome unless something is wrong.
  func outcomes(of number: Int) -> [Outcome] {
    outcomes.withLock { $0[number] ?? [] }
  }
}
