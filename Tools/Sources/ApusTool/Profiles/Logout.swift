#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Does what `apus logout` is asked to.
struct Logout: Sendable {
  /// Which profile; `nil`: all of them.
  let name: ProfileName?
  let store: ProfileStore
  let output: DescriptorWriter
  let error: DescriptorWriter

  /// Removes credentials and profiles.
  func run() async -> ExitStatus {
    do {
      if let name {
        try await signOut(name)
        return .accepted
      }
      return try await signOutOfAll()
    } catch {
      return await Ending(error).told(to: self.error)
    }
  }

  private func signOut(_ name: ProfileName) async throws {
    try await store.signOut(name)
    try await output.writeToTheEnd(Data("\(name): signed out\n".utf8))
  }

  /// One that cannot be removed keeps none of the others.
  private func signOutOfAll() async throws -> ExitStatus {
    let names = try store.everyName()
    if names.isEmpty { try await error.writeToTheEnd(Data(store.emptiness.utf8)) }
    var status = ExitStatus.accepted
    for name in names {
      do {
        try await signOut(name)
      } catch ProfileError.unknown {
        // Credentials without a profile, or somebody else was quicker: nothing is left.
        continue
      } catch {
        status = await Ending(error).told(to: self.error)
        if Task.isCancelled { break }
      }
    }
    return status
  }
}
