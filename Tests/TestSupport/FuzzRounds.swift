import Foundation

/// Returns the number of rounds of a fuzz test per seed: `APUS_FUZZ` if set, otherwise few.
public func fuzzRounds(usually rounds: Int) -> Int {
  ProcessInfo.processInfo.environment["APUS_FUZZ"].flatMap { Int($0) } ?? rounds
}
