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
      var configuration = Configuration(baseURL: baseURL)
      configure(&configuration)
      #if NIO && os(Linux)
        var options = NIOTransport.Options()
        // Whoever has its turn would otherwise wait once more, where nobody goes first.
        if let limits = configuration.scheduler?.limits {
          let permits = min(limits.perOrigin, limits.total)
          if permits <= options.connections {
            options.connectionsPerOrigin = max(options.connectionsPerOrigin, permits)
          }
        }
        let transport = NIOTransport(options: options)
      #else
        let transport = URLSessionTransport()
      #endif
      self.init(configuration: configuration, transport: transport)
    }
  #endif
}
