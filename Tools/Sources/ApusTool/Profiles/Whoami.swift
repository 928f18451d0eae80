#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Does what `apus whoami` is asked to.
struct Whoami: Sendable {
  /// Which profile; `nil`: all of them.
  let name: ProfileName?
  let isJSON: Bool
  let store: ProfileStore
  let output: DescriptorWriter
  let error: DescriptorWriter

  /// Prints what is known of the profiles. One that is damaged is told of, and hides none of the others.
  func run() async -> ExitStatus {
    do {
      var status = ExitStatus.accepted
      var list = ProfileList()
      for name in try name.map({ [$0] }) ?? store.names() {
        do {
          let profile = try store.profile(name)
          list.append(profile, isSignedIn: store.hasCredentials(of: profile))
        } catch {
          status = await Ending(error).told(to: self.error)
        }
      }
      try await output.writeToTheEnd(isJSON ? list.json() : Data(list.text.utf8))
      if list.isEmpty, status == .accepted, !isJSON {
        try await error.writeToTheEnd(Data(store.emptiness.utf8))
      }
      return status
    } catch {
      return await Ending(error).told(to: self.error)
    }
  }
}
