public import ApusCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The settings of AWS on this machine: variables, files below the home folder and programs.
///
/// A value, so that tests and apps decide what an ``AWSCredentialsChain`` sees. ``system`` is that of the process.
///
/// ```swift
/// var environment = AWSEnvironment.system
/// environment.profile = "production"
/// ```
public struct AWSEnvironment: Sendable, SelfRedacting {
  /// The environment variables, such as `AWS_PROFILE`. An empty value counts as not set.
  public var variables: [String: String]
  /// The absolute path of the user's home folder, with `.aws/config`, `.aws/credentials` and `.aws/sso/cache`; `nil`:
  /// there is none. Default: `nil`.
  public var home: String?
  /// The profile to use, and nothing but the profile. Default: `nil`: all providers, with the profile that `AWS_PROFILE`
  /// names, or `default`.
  public var profile: String?
  /// Reads a file; `nil` if there is none. The path is absolute, and a longer file than the maximum number of bytes is an
  /// error. Default: there are no files.
  package var readFile: @Sendable (_ path: String, _ maximumLength: Int) throws -> Data? = { _, _ in nil }
  /// Runs a program and returns its standard output when it has ended; processes that it started may go on. Default:
  /// fails.
  package var runProgram: @Sendable (AWSProgram) async throws -> Data = { _ in throw AWSProgramError.unsupported }
  /// The time. Default: the system's.
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
  /// The absolute path of the program, or a name without slashes, which is searched in the absolute entries of its
  /// variable `PATH`.
  package var path: String
  /// The arguments, without the path.
  package var arguments: [String]
  /// The environment variables of the program.
  package var variables: [String: String]
  /// The maximum number of bytes of its standard output. A longer output is an error.
  package var maximumLength: Int
  /// The time after which it is killed.
  package var timeout: Duration

  /// The path.
  package var description: String { "AWSProgram(\(path))" }
}

/// The reason why a program gave no credentials.
package enum AWSProgramError: LoggableError, Hashable {
  /// Programs cannot be run here.
  case unsupported
  /// There is no such program, or it cannot be run.
  case notStarted
  /// It ended with another status than 0.
  case failed(status: Int)
  /// It printed too much.
  case outputTooLong
  /// It took too long, and was killed.
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
