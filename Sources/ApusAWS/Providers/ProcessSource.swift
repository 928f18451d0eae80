import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The credentials that a program prints.
struct ProcessSource: Sendable {
  private struct Printed: Decodable {
    let version: Int
    let id: String?
    let secret: String?
    let token: String?
    let expiration: String?

    enum CodingKeys: String, CodingKey {
      case version = "Version"
      case id = "AccessKeyId"
      case secret = "SecretAccessKey"
      case token = "SessionToken"
      case expiration = "Expiration"
    }
  }

  private static let maximumLength = 64 << 10
  private static let timeout = Duration.seconds(60)

  let environment: AWSEnvironment

  /// - Parameter command: the program and its arguments, separated as in a shell.
  func fetch(_ command: String) async throws(SourceFailure) -> FetchedCredentials {
    guard let words = CommandWords.split(command), let name = words.first, let path = path(of: name) else {
      throw SourceFailure(reason: "credential_process names no program with an absolute path or in PATH")
    }
    let program = AWSProgram(
      path: path, arguments: Array(words.dropFirst()), variables: environment.variables,
      maximumLength: Self.maximumLength, timeout: Self.timeout)
    let output: Data
    do {
      output = try await environment.runProgram(program)
    } catch {
      throw SourceFailure(
        reason: "credential_process: \((error as? any LoggableError)?.description ?? "the program failed")")
    }
    guard let printed = try? JSONCoding.default.decode(Printed.self, from: output), printed.version == 1 else {
      throw SourceFailure(reason: "the output of credential_process cannot be read")
    }
    let expiration = try printed.expiration.map { text throws(SourceFailure) in
      guard let date = Date.ofService(text) else {
        throw SourceFailure(reason: "the expiration of credential_process cannot be read")
      }
      return date
    }
    return FetchedCredentials(
      credentials: try AWSCredentials.checked(
        printed.id, printed.secret, token: printed.token, expiration: expiration))
  }

  /// Returns the absolute path of a program, or its name. A name is searched in `PATH`. A path relative to the working
  /// directory is refused, because the directory may be a project with untrusted programs.
  private func path(of name: String) -> String? {
    if let path = environment.absolute(name) { return path }
    return name.isEmpty || name.contains("/") ? nil : name
  }
}
