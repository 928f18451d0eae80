public import ApusCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The settings of AWS on this machine: variables, files below the home folder and programs.
///
/// Tests and apps can pass a different environment to an ``AWSCredentialsChain``. ``system`` is the environment of the
/// process.
///
/// ```swift
/// var environment = AWSEnvironment.system
/// environment.profile = "production"
/// ```
public struct AWSEnvironment: Sendable, SelfRedacting {
  /// The environment variables, such as `AWS_PROFILE`. A variable with an empty value is treated as not set.
  public var variables: [String: String]
  /// The absolute path of the user's home folder, with `.aws/config`, `.aws/credentials` and `.aws/sso/cache`; `nil` if
  /// there is no home folder. Default: `nil`.
  public var home: String?
  /// The only profile to use, without other providers. Default: `nil`, all providers, with the profile in
  /// `AWS_PROFILE`, or `default`.
  public var profile: String?
  /// Returns the content of a file, or `nil` if the file does not exist. The path is absolute. A file with more than
  /// the maximum number of bytes is an error. Default: no file exists.
  package var readFile: @Sendable (_ path: String, _ maximumLength: Int) throws -> Data? = { _, _ in nil }
  /// Runs a program and returns its standard output when the program has ended. Processes that the program started may
  /// still run. Default: fails.
  package var runProgram: @Sendable (AWSProgram) async throws -> Data = { _ in throw AWSProgramError.unsupported }
  /// Returns the time. Default: the system's time.
  package var now: @Sendable () -> Date = { Date() }

  /// Creates an environment without files and programs.
  public init(variables: [String: String] = [:], home: String? = nil) {
    (self.variables, self.home) = (variables, home)
  }

  /// The names of the variables, without their values.
  public var description: String { "AWSEnvironment(\(variables.keys.filter { $0.hasPrefix("AWS_") }.sorted()))" }

  /// A variable that is set and not empty.
  subscript(name: String) -> String? {
    variables[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The region of requests for credentials.
  var region: String? { self["AWS_REGION"] ?? self["AWS_DEFAULT_REGION"] }
}

/// A program that prints credentials (`credential_process`).
package struct AWSProgram: Sendable, Hashable, SelfRedacting {
  /// The absolute path of the program, or a name without slashes. A name is searched in the absolute entries of the
  /// variable `PATH` in ``variables``.
  package var path: String
  /// The arguments, without the path.
  package var arguments: [String]
  /// The environment variables of the program.
  package var variables: [String: String]
  /// The maximum number of bytes of the program's standard output. A longer output is an error.
  package var maximumLength: Int
  /// The time after which the program is killed.
  package var timeout: Duration

  /// The path.
  package var description: String { "AWSProgram(\(path))" }
}

/// The reason why a program printed no credentials.
package enum AWSProgramError: LoggableError, Hashable {
  /// Programs cannot be run here.
  case unsupported
  /// The program does not exist, or cannot be run.
  case notStarted
  /// The program ended with another status than 0.
  case failed(status: Int)
  /// The program printed more bytes than permitted.
  case outputTooLong
  /// The program exceeded its timeout, and was killed.
  case timedOut

  /// The reason as a clause.
  package var description: String {
    switch self {
    case .unsupported: "programs cannot be run here"
    case .notStarted: "the program could not be started"
    case .failed(let status): "the program ended with the status \(status)"
    case .outputTooLong: "the output of the program is too long"
    case .timedOut: "the program took too long and was stopped"
    }
  }
}
