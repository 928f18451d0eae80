import Apus
import ApusAWS
import ArgumentParser

/// The options of the commands with places in S3.
struct S3Options: ParsableArguments {
  @Option(
    name: .customLong("endpoint-url"),
    help: ArgumentHelp("The URL of a server with the API of S3. Default: AWS.", valueName: "url"))
  var endpoint: String?

  @Option(help: "The region. Default: AWS_REGION, AWS_DEFAULT_REGION or us-east-1.")
  var region: String?

  @Flag(name: .customLong("no-sign-request"), help: "Send requests without a signature, for public buckets.")
  var anonymous = false

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

  /// Whether any of the options is set.
  var isUsed: Bool {
    anonymous || [endpoint, region, accessKey, secretKey, sessionToken].contains { $0 != nil }
  }

  /// Returns the access to a server.
  ///
  /// - Throws: ``PlanError``, ``InputError``
  func plan(in environment: [String: String]) throws -> S3Plan {
    let region = region ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? "us-east-1"
    guard !region.isEmpty else { throw PlanError("--region takes a name.") }
    let endpoint = endpoint ?? environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"]
    let url = try TargetURL.named(endpoint ?? "https://s3.\(region).amazonaws.com", relativeTo: nil)
    guard !anonymous else { return S3Plan(url: url, region: region, credentials: nil) }
    let credentials = AWSCredentials(
      accessKeyID: try Self.required(accessKey, environment["AWS_ACCESS_KEY_ID"], "--access-key", "AWS_ACCESS_KEY_ID"),
      secretAccessKey: try Self.required(
        secretKey, environment["AWS_SECRET_ACCESS_KEY"], "--secret-key", "AWS_SECRET_ACCESS_KEY"),
      sessionToken: try Self.value(sessionToken, environment["AWS_SESSION_TOKEN"]))
    return S3Plan(url: url, region: region, credentials: credentials)
  }

  private static func required(
    _ option: String?, _ variable: String?, _ name: String, _ variableName: String
  ) throws -> String {
    guard let value = try value(option, variable) else { throw PlanError("\(name) or \(variableName) is required.") }
    return value
  }

  /// Returns the value of an option, or else of a variable; `nil` if neither is set.
  private static func value(_ option: String?, _ variable: String?) throws(InputError) -> String? {
    let value = try option.map { value throws(InputError) in try CredentialPlan.secretText(value) } ?? variable
    return value?.isEmpty == false ? value : nil
  }
}
