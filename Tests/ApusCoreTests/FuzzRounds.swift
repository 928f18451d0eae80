#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How many rounds a fuzz test makes for one seed: few beside the other tests, `APUS_FUZZ` when that is set.
func fuzzRounds(usually rounds: Int) -> Int {
  ProcessInfo.processInfo.environment["APUS_FUZZ"].flatMap { Int($0) } ?? rounds
}
