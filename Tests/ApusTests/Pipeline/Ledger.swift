import Apus
import Synchronization

/// What became of calls, by the number that a test gave them.
final class Ledger: Sendable {
  typealias Outcome = Result<Int, CallError>

  private let outcomes = Mutex<[Int: [Outcome]]>([:])

  func add(_ outcome: Outcome, of number: Int) {
    outcomes.withLock { $0[number, default: []].append(outcome) }
  }

  /// What a call ended with: one outcome, unless something is wrong.
  func outcomes(of number: Int) -> [Outcome] {
    outcomes.withLock { $0[number] ?? [] }
  }
}
