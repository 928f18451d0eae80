#if NIO && os(Linux)
import ApusNIO
#elseif canImport(Darwin)
import ApusURLSession
#endif

extension Client {
  /// Creates a client with the default pipeline.
  ///
  /// - Parameters:
  ///   - baseURL: the URL of the server; with a malformed literal every call throws `invalidRequest`.
  ///   - transport: the transport that sends messages.
  ///   - configure: changes the defaults.
  public init(baseURL: BaseURL, transport: any Transport, configure: (inout Configuration) -> Void = { _ in }) {
    var configuration = Configuration(baseURL: baseURL)
    configure(&configuration)
    self.init(configuration: configuration, transport: transport)
  }

  /// Creates a client with a configuration.
  public init(configuration: Configuration, transport: any Transport) {
    var settings = configuration.settings
    if let logging = configuration.logging { settings.observers.append(logging) }
    self.init(
      environment: configuration.environment, pipeline: configuration.pipeline, transport: transport,
      settings: settings)
  }

  #if canImport(Darwin) || (NIO && os(Linux))
  /// Creates a client with the default pipeline and a new transport of this platform, with its own connections:
  /// `NIOTransport` on Linux, `URLSessionTransport` elsewhere. On Linux this initializer needs the trait `NIO`.
  ///
  /// To set options of the transport, create a transport and pass it to ``init(baseURL:transport:configure:)``.
  public init(baseURL: BaseURL, configure: (inout Configuration) -> Void = { _ in }) {
    var configuration = Configuration(baseURL: baseURL)
    configure(&configuration)
    #if NIO && os(Linux)
    var options = NIOTransport.Options()
    // The transport's limits are raised, because otherwise a call with a permit would wait again in the connection
    // pool, which has no priorities.
    if let limits = configuration.scheduler?.limits {
      let permits = min(limits.perOrigin, limits.global)
      if permits <= options.maximumConnections {
        options.maximumConnectionsPerOrigin = max(options.maximumConnectionsPerOrigin, permits)
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
