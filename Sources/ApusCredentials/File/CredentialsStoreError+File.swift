import ApusFiles

extension CredentialsStoreError {
  init(_ error: FileError) {
    let problem: Problem =
      switch error.cause {
      case .system: .system
      case .notAFile: .notAFile
      case .foreignOwner: .foreignOwner
      case .accessibleToOthers: .accessibleToOthers
      case .tooLarge: .fileTooLarge
      }
    self.init(problem, error.name, step: error.operation, errno: error.number)
  }

  /// Performs an operation, and converts its file errors.
  static func converting<Value>(_ work: () async throws -> Value) async throws -> Value {
    do {
      return try await work()
    } catch let error as FileError {
      throw CredentialsStoreError(error)
    }
  }
}
