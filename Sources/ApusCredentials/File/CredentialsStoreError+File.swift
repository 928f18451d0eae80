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

  /// Converts an error of an operation on a file; an error that has no description for users becomes a failed step.
  init(of error: any Error, _ file: String) {
    switch error {
    case let error as CredentialsStoreError: self = error
    case let error as FileError: self.init(error)
    default: self.init(.system, file, step: "written")
    }
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
