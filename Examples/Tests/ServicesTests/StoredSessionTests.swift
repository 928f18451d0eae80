import AccountsService
import Apus
import ApusCredentials
import Backend
import Foundation
import Testing

/// Sessions in an encrypted file, on a real server.
@Suite struct StoredSessionTests {
  /// Returns a service for a server's accounts, with credentials in a folder: a new object each time, as after a
  /// restart.
  private func accounts(of site: Site, in folder: URL) -> LiveAccountsService {
    let credentials = credentials(in: folder)
    let client = Client(baseURL: site.client.environment.baseURL) { $0.authentication = .accounts(credentials) }
    return LiveAccountsService(client: client, credentials: credentials)
  }

  private func credentials(in folder: URL) -> FileCredentialsStore {
    FileCredentialsStore(at: folder.appendingPathComponent("session/tokens").path, key: .file(key(in: folder)))
  }

  private func key(in folder: URL) -> String { folder.appendingPathComponent("key").path }

  private func withFolder(_ test: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("stored-session-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    try await test(folder)
  }

  @Test("After a restart the user is still signed in, and the file contains no token in clear text")
  func restart() async throws {
    try await withSite { site in
      try await withFolder { folder in
        try await site.signIn()
        try await accounts(of: site, in: folder).signIn(email: "ada@example.com", password: "correct horse")
        #expect(try await accounts(of: site, in: folder).account().name == "Ada")
        #expect(site.backend.log.rows { $0.path == "/sessions" }.count == 2)
        guard case .tokens(let tokens)? = try await credentials(in: folder).current().credential else {
          Issue.record("no tokens are stored")
          return
        }
        let rows = site.backend.log.rows { $0.path == "/accounts/me" }
        #expect(rows.map(\.credential) == ["bearer:\(Backend.fingerprint(of: tokens.access.value))"])
        let file = try Data(contentsOf: folder.appendingPathComponent("session/tokens"))
        #expect(file.range(of: Data(tokens.access.value.utf8)) == nil)
      }
    }
  }

  @Test("After a sign-out and a restart there is no session")
  func signOut() async throws {
    try await withSite { site in
      try await withFolder { folder in
        try await site.signIn()
        try await accounts(of: site, in: folder).signIn(email: "ada@example.com", password: "correct horse")
        try await accounts(of: site, in: folder).signOut()
        #expect(try await credentials(in: folder).current().credential == nil)
        let error = await #expect(throws: CallError.self) { try await accounts(of: site, in: folder).account() }
        #expect(error?.status == 401)
        #expect(site.backend.log.rows { $0.path == "/sessions/revoke" }.map(\.status) == [204])
      }
    }
  }

  @Test("A session that cannot be stored is an error of the sign-in")
  func unwritable() async throws {
    try await withSite { site in
      try await withFolder { folder in
        try await site.signIn()
        // A file in place of the folder prevents the store from writing.
        try Data().write(to: folder.appendingPathComponent("session"))
        let accounts = accounts(of: site, in: folder)
        let error = await #expect(throws: CallError.self) {
          try await accounts.signIn(email: "ada@example.com", password: "correct horse")
        }
        #expect(error?.code == .handler)
        #expect(error?.underlying is CredentialsStoreError)
      }
    }
  }
}
