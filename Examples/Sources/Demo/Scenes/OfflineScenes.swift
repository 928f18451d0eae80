import AccountsService
import Apus
import Foundation

/// A start without a network: the app shows the stored friends, marked as old, then the present ones. Another account
/// on the same device sees nothing of them.
struct StoredFriendsScene: Scene {
  let title = "A start without a network: stored friends, marked as old, and of one account only"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server) = (world.stage, world.staging)
    let device = try TemporaryFolder()
    defer { device.remove() }
    let ada = FriendsApp(on: device.path, account: "ada", server: try server.url())
    try await ada.accounts.signIn(email: world.user.email, password: world.user.password)
    let current = try await ada.screen()
    stage.say("Ada's app shows \(current)")
    stage.note("the response is stored in a folder, under digests of its URL and of the account")
    let (offline, refreshed) = try await restart(ada, in: world)
    stage.say("The app quits and starts again, without a network. It shows \(offline)")
    stage.say("The network is back, and Ada pulls to refresh. The app shows \(refreshed)")
    let other = try await failureOfOtherAccount(on: device, in: world)
    return [
      Claim(name: "stored-friends", server: server, subject: "GET /friends", expected: "200 ×2"),
      .app("offline-friends", "friends without a network", expected: Self.outdated(current), shown: offline),
      .app("refreshed-friends", "friends once the network is back", expected: current, shown: refreshed),
      .app("other-account", "what Grace sees without a network", expected: "offline", shown: "\(other.code)"),
    ]
  }

  /// Starts the app in another process. If the demo cannot be run again, new objects are used in this process.
  ///
  /// - Returns: the texts on the screen without a network, and with one again.
  private func restart(_ app: FriendsApp, in world: World) async throws -> (offline: String, refreshed: String) {
    let output: String
    if let runAgain = world.runAgain {
      output = try await runAgain(app.arguments)
    } else {
      output = try await app.restarted().startOffline()
    }
    let lines = output.components(separatedBy: "\n")
    return (lines[0], lines.dropFirst().joined(separator: "\n"))
  }

  /// Signs another user in on the same device, and starts the app without a network.
  private func failureOfOtherAccount(on device: TemporaryFolder, in world: World) async throws -> CallError {
    let grace = FriendsApp(on: device.path, account: "grace", server: try world.staging.url())
    let email = "grace.\(UInt32.random(in: 0 ... .max))@example.com"
    _ = try await grace.accounts.signUp(SignUpForm(name: "Grace", email: email, password: world.user.password))
    try await grace.accounts.signIn(email: email, password: world.user.password)
    world.stage.say("Grace signs in on the same device, and starts the app without a network:")
    let app = grace.restarted()
    app.connectivity.report(.offline)
    return try await showFailure(.offline, on: world.stage) { try await app.screen() }
  }

  /// Returns the text for the same friends, marked as old.
  private static func outdated(_ text: String) -> String {
    text.replacingOccurrences(of: " friends:", with: " friends (stored earlier):")
  }
}
