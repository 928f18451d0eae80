import Apus
import ApusAWS
import ArgumentParser

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The options for AWS keys.
struct AWSKeyOptions: ParsableArguments {
  @Option(name: .customLong("access-key"), help: "The access key ID. Default: AWS_ACCESS_KEY_ID.")
  var accessKey: String?

  @Option(
    name: .customLong("secret-key"), parsing: .unconditional,
    help: "The secret access key; @FILE reads it from a file. Default: AWS_SECRET_ACCESS_KEY.")
  var secretKey: String?

  @Option(
    name: .customLong("session-token"), parsing: .unconditional,
    help: "The session token of temporary credentials; @FILE reads it from a file. Default: AWS_SESSION_TOKEN.")
  var sessionToken: String?

  /// Whether an option is given.
  var isGiven: Bool { accessKey != nil || secretKey != nil || sessionToken != nil }

  /// Returns the keys of the options, or otherwise of the environment variables.
  ///
  /// - Throws: ``PlanError`` if a key is missing; ``InputError``
  func credentials(in environment: [String: String]) throws -> AWSCredentials {
    AWSCredentials(
      accessKeyID: try Self.required(accessKey, environment["AWS_ACCESS_KEY_ID"], "--access-key", "AWS_ACCESS_KEY_ID"),
      secretAccessKey: try Self.required(
        secretKey, environment["AWS_SECRET_ACCESS_KEY"], "--secret-key", "AWS_SECRET_ACCESS_KEY"),
      sessionToken: try Self.value(sessionToken, environment["AWS_SESSION_TOKEN"]))
  }

  private static func required(
    _ option: String?, _ variable: String?, _ name: String, _ variableName: String
  ) throws -> String {
    guard let value = try value(option, variable) else { throw PlanError("\(name) or \(variableName) is required.") }
    return value
  }

  /// Returns the value of an option, or otherwise of a variable; `nil` if neither is set.
  private static func value(_ option: String?, _ variable: String?) throws(InputError) -> String? {
    let value = try option.map { value throws(InputError) in try CredentialPlan.secretText(value) } ?? variable
    return value?.isEmpty == false ? value : nil
  }
}

/// The options for AWS credentials of commands that send requests.
struct AWSCredentialsOptions: ParsableArguments {
  @Option(
    name: .customLong("aws-profile"),
    help: ArgumentHelp(
      "Sign with the credentials of this profile of ~/.aws. Without it and without keys, the credentials are those that "
        + "AWS's own tools would use: environment variables, ~/.aws, a container or an instance.", valueName: "name"))
  var profile: String?

  @OptionGroup var keys: AWSKeyOptions

  /// Whether an option is given.
  var isGiven: Bool { profile != nil || keys.isGiven }

  /// Returns the origin of the credentials.
  ///
  /// - Throws: ``PlanError``, ``InputError``
  func plan(in environment: [String: String]) throws -> AWSCredentialsPlan {
    guard keys.isGiven else { return .search(profile: profile) }
    guard profile == nil else { throw PlanError("--aws-profile and --access-key are mutually exclusive.") }
    return .keys(try keys.credentials(in: environment))
  }
}

/// The options of commands that sign requests with the user's credentials.
struct AWSSigningOptions: ParsableArguments {
  @Option(
    name: .customLong("aws-sigv4"),
    help: ArgumentHelp(
      "Sign with an AWS signature (version 4), with the credentials of the following options.",
      valueName: "region/service"))
  var target: String?

  @OptionGroup var credentials: AWSCredentialsOptions

  /// Returns the plan of signatures; `nil` if no request is signed.
  ///
  /// - Throws: ``PlanError``, ``InputError``
  func plan() throws -> AWSPlan? {
    guard let target else {
      guard !credentials.isGiven else { throw PlanError("The credentials of AWS need --aws-sigv4.") }
      return nil
    }
    guard let (region, service) = target.splitAtFirst("/"), !region.isEmpty, !service.isEmpty else {
      throw PlanError("--aws-sigv4 takes REGION/SERVICE, for example eu-central-1/s3.")
    }
    return AWSPlan(
      signer: SignatureV4(region: region, service: service),
      credentials: try credentials.plan(in: ProcessInfo.processInfo.environment))
  }
}
