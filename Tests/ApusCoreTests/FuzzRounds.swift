#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The number of rounds of a fuzz test for one seed: few by default, or the value of `APUS_FUZZ`.
func fuzzRounds(usually rounds: Int) -> Int {
  ProcessInfo.processInfo.environment["APUS_FUZZ"].flatMap { Int($0) } ?? rounds
}
