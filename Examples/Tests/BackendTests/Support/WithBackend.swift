import Backend

/// Runs a test with a new backend.
func withBackend(
  _ options: Backend.Options = .testing(), _ test: (_ backend: Backend, _ client: TestClient) async throws -> Void
) async throws {
  let backend = try await Backend.start(options)
  do {
    try await test(backend, TestClient(port: backend.port))
  } catch {
    await backend.stop()
    throw error
  }
  await backend.stop()
}

extension Backend.Options {
  /// Returns options with a free port, fast password hashing and no friends.
  static func testing(_ change: (inout Backend.Options) -> Void = { _ in }) -> Backend.Options {
    var options = Backend.Options()
    options.passwordHashRounds = 2
    options.friendsPerAccount = 0
    change(&options)
    return options
  }
}
