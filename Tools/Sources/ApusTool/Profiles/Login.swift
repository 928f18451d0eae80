import Apus

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The execution of `apus login`.
struct Login: Sendable {
  let plan: LoginPlan
  let store: ProfileStore
  let secret: SecretInput
  let output: DescriptorWriter
  let error: DescriptorWriter
  /// Returns the current time.
  var now: @Sendable () -> Date = { Date() }

  /// Reads the secret and stores it.
  func run() async -> ExitStatus {
    do {
      let secret = try await secret.read(prompt: plan.prompt, messages: error)
      try plan.check(secret)
      let profile = Profile(plan.name, origin: plan.origin, account: plan.account, since: now())
      let trouble = try await store.signIn(profile, with: secret)
      let user = plan.account.user.map { " as \($0)" } ?? ""
      try await output.writeToTheEnd(Data("\(plan.name): signed in to \(plan.origin)\(user)\n".utf8))
      if let trouble { await error.writeMessage(Ending(trouble).remaining(of: plan.name)) }
      return .accepted
    } catch {
      return await Ending(error).reported(on: self.error)
    }
  }
}

extension Ending {
  /// Returns the message after a login whose previous credentials could not be removed. The login is valid; the next
  /// login tries again to remove them.
  func remaining(of name: ProfileName) -> String {
    let reason = complaint.map { " \($0.sentence)" } ?? ""
    return TerminalText.harmless("apus: The previous credentials of “\(name)” were not removed.\(reason)\n")
  }
}
