import AccountsService
import Apus
import Backend
import Testing

@testable import Demo

/// The friends app with stored responses, on a real server.
@Suite struct FriendsAppTests {
  /// Starts a server with Ada's account, and the app in a new folder, where Ada signs in.
  private func withApp(_ test: (Backend, FriendsApp, TemporaryFolder) async throws -> Void) async throws {
    var options = Backend.Options()
    options.passwordHashRounds = 2
    let backend = try await Backend.start(options)
    let device = try TemporaryFolder()
    defer { device.remove() }
    do {
      let app = FriendsApp(on: device.path, account: "ada", server: try BaseURL(backend.baseURL))
      try await signIn(app, "Ada")
      try await test(backend, app, device)
    } catch {
      await backend.stop()
      throw error
    }
    await backend.stop()
  }

  private func signIn(_ app: FriendsApp, _ name: String) async throws {
    let email = "\(name)@example.com"
    _ = try await app.accounts.signUp(SignUpForm(name: name, email: email, password: "correct horse"))
    try await app.accounts.signIn(email: email, password: "correct horse")
  }

  private func requests(_ backend: Backend) -> [Int?] { backend.log.rows { $0.path == "/friends" }.map(\.status) }

  @Test("An app that starts without a network shows the stored friends as such, then the present ones")
  func restart() async throws {
    try await withApp { backend, app, _ in
      let current = try await app.screen()
      #expect(current.hasPrefix("10 friends: "))
      let lines = try await app.restarted().startOffline().split(separator: "\n")
      #expect(lines.first?.hasPrefix("10 friends (stored earlier): ") == true)
      #expect(lines.last == current[...])
      #expect(requests(backend) == [200, 200])
    }
  }

  @Test("Without a network another account on the device, and a user who has signed out, see no stored friends")
  func accounts() async throws {
    try await withApp { backend, app, device in
      _ = try await app.screen()
      let other = FriendsApp(on: device.path, account: "grace", server: try BaseURL(backend.baseURL))
      try await signIn(other, "Grace")
      try await app.accounts.signOut()
      for app in [other.restarted(), app.restarted()] {
        app.connectivity.report(.offline)
        let error = await #expect(throws: CallError.self) { try await app.screen() }
        #expect(error?.code == .offline)
      }
      #expect(requests(backend) == [200])
    }
  }
}
