import Apus

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Does what `apus login` is asked to.
struct Login: Sendable {
  let plan: LoginPlan
  let store: ProfileStore
  let secret: SecretInput
  let output: DescriptorWriter
  let error: DescriptorWriter
  /// The time now.
  var now: @Sendable () -> Date = { Date() }

  /// Reads the secret, and keeps it.
  func run() async -> ExitStatus {
    do {
      let secret = try await secret.read(prompt: plan.prompt, messages: error)
      try plan.check(secret)
      let profile = Profile(plan.name, origin: plan.origin, account: plan.account, since: now())
      let trouble = try await store.signIn(profile, with: secret)
      let user = plan.account.user.map { " as \($0)" } ?? ""
      try await output.writeToTheEnd(Data("\(plan.name): signed in to \(plan.origin)\(user)\n".utf8))
      if let trouble { await tell(of: trouble) }
      return .accepted
    } catch {
      return await Ending(error).told(to: self.error)
    }
  }

  /// Says that something was left over, which changes nothing: the next sign-in tries again to remove it.
  private func tell(of trouble: any Error) async {
    let reason = Ending(trouble).complaint.map { " \($0.sentence)" } ?? ""
    let note = "apus: Earlier credentials of “\(plan.name)” were not removed.\(reason)\n"
    // Where even this cannot be written, there is nobody to tell.
    try? await error.writeToTheEnd(Data(TerminalText.harmless(note).utf8))
  }
}

extension Ending {
  /// Says what there is to say.
  ///
  /// - Returns: the status.
  func told(to error: DescriptorWriter) async -> ExitStatus {
    // Where even this cannot be written, there is nobody to tell.
    if let complaint { try? await error.writeToTheEnd(Data(complaint.text.utf8)) }
    return status
  }
}
