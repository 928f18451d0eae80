import Apus
import ApusAWS
import ArgumentParser

/// The options of the commands with S3 locations.
struct S3Options: ParsableArguments {
  @Option(
    name: .customLong("endpoint-url"),
    help: ArgumentHelp("The URL of a server with the API of S3. Default: AWS.", valueName: "url"))
  var endpoint: String?

  @Option(help: "The region. Default: AWS_REGION, AWS_DEFAULT_REGION or us-east-1.")
  var region: String?

  @Flag(name: .customLong("no-sign-request"), help: "Send requests without a signature, for public buckets.")
  var anonymous = false

  @OptionGroup var credentials: AWSCredentialsOptions

  /// Whether any of the options is set.
  var isUsed: Bool {
    anonymous || endpoint != nil || region != nil || credentials.isGiven
  }

  /// Returns the access to a server.
  ///
  /// - Throws: ``PlanError``, ``InputError``
  func plan(in environment: [String: String]) throws -> S3Plan {
    let region = region ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? "us-east-1"
    guard !region.isEmpty else { throw PlanError("--region takes a name.") }
    let endpoint = endpoint ?? environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"]
    let url = try endpoint.map { endpoint throws(PlanError) in try Self.server(endpoint) } ?? Self.server(in: region)
    guard !anonymous else {
      guard !credentials.isGiven else { throw PlanError("--no-sign-request and credentials are mutually exclusive.") }
      return S3Plan(url: url, region: region, credentials: nil)
    }
    return S3Plan(url: url, region: region, credentials: try credentials.plan(in: environment))
  }

  private static func server(_ endpoint: String) throws(PlanError) -> TargetURL {
    let url = try TargetURL.named(endpoint, relativeTo: nil)
    guard url.userInformation == nil else { throw PlanError("--endpoint-url must not contain a name or password.") }
    return url
  }

  /// Returns the URL of S3 in a region of AWS. Throws if the region's name contains a delimiter of URLs, because the
  /// URL would then have another host.
  private static func server(in region: String) throws(PlanError) -> TargetURL {
    let host = "s3.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
    guard let url = try? TargetURL("https://\(host)"), url.origin.description == "https://\(host)", url.target == "/"
    else { throw PlanError("--region takes the name of a region, for example eu-central-1.") }
    return url
  }
}
