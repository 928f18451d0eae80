#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The execution of `apus logout`.
struct Logout: Sendable {
  /// The profile; `nil` for all.
  let name: ProfileName?
  let store: ProfileStore
  let output: DescriptorWriter
  let error: DescriptorWriter

  /// Removes profiles and their credentials.
  func run() async -> ExitStatus {
    do {
      if let name {
        try await signOut(name)
        return .accepted
      }
      return try await signOutOfAll()
    } catch {
      return await Ending(error).reported(to: self.error)
    }
  }

  private func signOut(_ name: ProfileName) async throws {
    try await store.signOut(name)
    try await output.writeToTheEnd(Data("\(name): signed out\n".utf8))
  }

  /// Continues after a profile that cannot be removed.
  private func signOutOfAll() async throws -> ExitStatus {
    let names = try store.everyName()
    if names.isEmpty { try await error.writeToTheEnd(Data(store.emptiness.utf8)) }
    var status = ExitStatus.accepted
    for name in names {
      do {
        try await signOut(name)
      } catch ProfileError.unknown {
        // Credentials without a profile, or removed meanwhile by another process.
        continue
      } catch {
        status = await Ending(error).reported(to: self.error)
        if Task.isCancelled { break }
      }
    }
    return status
  }
}
