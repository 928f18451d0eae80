#if URLSession
  import ApusURLSession
#endif

extension Client {
  /// Makes a client with the default pipeline.
  ///
  /// - Parameters:
  ///   - baseURL: where the server is; a malformed literal makes its calls throw `invalidRequest`.
  ///   - transport: sends messages.
  ///   - configure: changes the defaults.
  public init(baseURL: BaseURL, transport: any Transport, configure: (inout Configuration) -> Void = { _ in }) {
    var configuration = Configuration(baseURL: baseURL)
    configure(&configuration)
    self.init(configuration: configuration, transport: transport)
  }

  /// Makes a client of a configuration.
  public init(configuration: Configuration, transport: any Transport) {
    var settings = configuration.settings
    if let logging = configuration.logging { settings.observers.append(logging) }
    self.init(
      environment: configuration.environment, pipeline: configuration.pipeline, transport: transport,
      settings: settings)
  }

  #if URLSession
    /// Makes a client with the default pipeline and this platform's transport.
    public init(baseURL: BaseURL, configure: (inout Configuration) -> Void = { _ in }) {
      self.init(baseURL: baseURL, transport: URLSessionTransport(), configure: configure)
    }
  #endif
}
