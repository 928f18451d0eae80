import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("A cache of several accounts: random input")
struct CacheAccountFuzzTests {
  enum Place: CaseIterable {
    case memory, folderOfAccount, folder
  }

  @Test(
    "A response never reaches a caller with other credentials",
    arguments: Place.allCases, [1, 2, 3] as [UInt64])
  func leaks(place: Place, seed: UInt64) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/apus-accounts-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: path) }
    var run = AccountsRun(place, path, seed: seed)
    // Fewer steps reach too few of the cases.
    for _ in 0..<max(300, fuzzRounds(usually: 300)) {
      try await run.step()
      if !run.faults.isEmpty { break }
    }
    try await run.finish()
    #expect(run.faults.isEmpty, "seed \(seed), after \(run.steps) steps")
    #expect(run.hits > 10 && run.late > 0 && run.switches > 0)
  }
}
