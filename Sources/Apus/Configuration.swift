/// Everything that can be said about a client, each with a default that suits an app.
///
/// ```swift
/// let api = Client(baseURL: "https://api.example.com/v1") {
///   $0.authentication = .bearer(tokens)
///   $0.timeout = .seconds(10)
/// }
/// ```
public struct Configuration: Sendable {
  /// The server: base URL, common fields and parameters, authentication.
  public var environment: Environment
  /// Coders, limits, texts, observers, surroundings.
  public var settings = ClientSettings()
  /// The limit of a whole call that sets none; `nil`: no limit. Default: 30 seconds.
  public var timeout: Duration? = .seconds(30)
  /// Which redirects are followed by calls that do not say so themselves. Default: up to 10, never from https to http.
  public var redirects: RedirectPolicy = .follow
  /// Writes a line for each call's beginning and end; `nil`: no logging. Default: `nil`.
  public var logging: RequestLogging?
  /// Told once for each generation of credentials that a server refuses, see ``Credentials``. Default: nobody.
  public var onUnauthorized: (@Sendable (UnauthorizedEvent) -> Void)?
  /// Changes the assembled pipeline, for example `{ $0.insert(signing, .beforeTransport) }`. Default: no change.
  public var customizePipeline: @Sendable (inout Pipeline) -> Void = { _ in }

  /// The defaults for a server.
  public init(baseURL: BaseURL) {
    environment = Environment(baseURL: baseURL)
  }

  /// How calls show who is calling; belongs to the environment.
  public var authentication: Authentication? {
    get { environment.authentication }
    set { environment.authentication = newValue }
  }

  /// The JSON coders of all calls.
  public var json: JSONCoding {
    get { settings.coding.effectiveJSON }
    set { settings.coding.json = newValue }
  }

  /// Query parameters on every request that has none of the same name; belong to the environment.
  public var query: Query {
    get { environment.query }
    set { environment.query = newValue }
  }

  /// Sets a field on every request that does not set it itself; a secret is marked as sensitive, see ``RawField``.
  public mutating func setField(_ name: String, _ value: String, isSensitive: Bool = false) {
    environment.setField(name, value, isSensitive: isSensitive)
  }
}
