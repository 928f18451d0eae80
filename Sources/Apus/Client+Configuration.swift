#if NIO && os(Linux)
  import ApusNIO
#elseif URLSession
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

  #if URLSession || (NIO && os(Linux))
    /// Makes a client with the default pipeline and this platform's transport, a new one with connections of its own:
    /// `NIOTransport` on Linux unless the trait `NIO` is off, else `URLSessionTransport`.
    ///
    /// For other options of a transport make it yourself, and give it to ``init(baseURL:transport:configure:)``.
    public init(baseURL: BaseURL, configure: (inout Configuration) -> Void = { _ in }) {
      #if NIO && os(Linux)
        let transport = NIOTransport()
      #else
        let transport = URLSessionTransport()
      #endif
      self.init(baseURL: baseURL, transport: transport, configure: configure)
    }
  #endif
}
