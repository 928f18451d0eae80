#if NIO
  import ApusCore

  /// Which proxy leads to an origin: decided once for a transport, so that an origin's connections are all alike.
  struct ProxyRules: Sendable {
    private enum Choice {
      case none
      case proxy(NIOTransport.Proxy)
      /// A variable that cannot be used, by its name.
      case unusable(String)
    }

    private var http = Choice.none
    private var https = Choice.none
    private var exceptions: [ProxyException] = []

    /// - Parameter environment: the variables, asked for only where they count.
    init(_ use: NIOTransport.ProxyUse, environment: () -> [String: String]) {
      switch use {
      case .none: break
      case .proxy(let proxy):
        (http, https) = (.proxy(proxy), .proxy(proxy))
        exceptions = proxy.exceptions.map { ProxyException($0) }
      case .environment:
        let variables = environment()
        http = Self.choice(of: ["http_proxy", "all_proxy", "ALL_PROXY"], in: variables)
        https = Self.choice(of: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"], in: variables)
        let list = variables["no_proxy"] ?? variables["NO_PROXY"] ?? ""
        exceptions = list.utf8.split { $0 == UInt8(ascii: ",") || $0 <= 0x20 }.map {
          ProxyException(String(Substring($0)))
        }
      }
    }

    /// The proxy to an origin; `nil` where there is none.
    ///
    /// - Throws: ``TransportError`` where a proxy is asked for that cannot be used.
    func proxy(to origin: Origin) throws(TransportError) -> NIOTransport.Proxy? {
      let choice = origin.scheme == "https" ? https : http
      if case .none = choice { return nil }
      if exceptions.contains(where: { $0.covers(origin) }) { return nil }
      switch choice {
      case .none: return nil
      case .proxy(let proxy): return proxy
      case .unusable(let variable):
        throw TransportError(
          .unsupported, requestState: .notSent, detail: "the variable \(variable) is not the URL of an HTTP proxy")
      }
    }

    private static func choice(of names: [String], in variables: [String: String]) -> Choice {
      guard let name = names.first(where: { variables[$0]?.isEmpty == false }), let url = variables[name] else {
        return .none
      }
      return NIOTransport.Proxy(url: url).map { .proxy($0) } ?? .unusable(name)
    }
  }
#endif
