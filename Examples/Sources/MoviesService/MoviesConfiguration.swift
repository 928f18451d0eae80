import Apus

/// The environments of the movies API, such as `qa`, `staging` and `production`, and the name of the environment in
/// use.
///
/// Decoded from a configuration file, so that switching environments changes no code:
///
/// ```json
/// {
///   "environment": "staging",
///   "environments": {
///     "staging": {"api": "https://staging.example.com/3", "images": "https://staging.example.com/t/p", "key": "…"},
///     "production": {"api": "https://example.com/3", "key": "…"}
///   }
/// }
/// ```
public struct MoviesConfiguration: Decodable, Sendable {
  /// One environment.
  public struct Site: Decodable, Sendable {
    /// The address of the API.
    public let api: String
    /// The address of the image server; `nil` leaves every movie without a poster.
    public let images: String?
    /// The API key of this environment.
    public let key: String
  }

  /// The error of an environment that is not in the configuration.
  public struct UnknownEnvironment: Error, CustomStringConvertible {
    /// The missing environment's name.
    public let name: String
    /// The message, with the name.
    public var description: String { "The configuration has no environment “\(name)”." }
  }

  /// The name of the environment in use.
  public var environment: String
  /// The environments by name.
  public let environments: [String: Site]
}

extension LiveMoviesService {
  /// Creates the service for the environment that a configuration selects.
  ///
  /// Each environment gets its own client and key, so no key is sent to another environment.
  ///
  /// - Throws: ``MoviesConfiguration/UnknownEnvironment``; `BaseURL.ParseError` for an invalid address.
  public init(_ configuration: MoviesConfiguration) throws {
    let name = configuration.environment
    guard let site = configuration.environments[name] else { throw MoviesConfiguration.UnknownEnvironment(name: name) }
    let client = Client(baseURL: try BaseURL(site.api)) {
      $0.apply(.app)
      $0.environment.name = name
      $0.authentication = .apiKey(site.key, queryParameter: "api_key")
    }
    self.init(client: client, images: try site.images.map { Client(baseURL: try BaseURL($0)) })
  }
}
