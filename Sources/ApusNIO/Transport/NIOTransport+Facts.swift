#if NIO
  public import ApusCore

  extension NIOTransport: SelfDescribing {
    /// Its limits, and the proxy. Credentials for the proxy and whom it trusts are left out.
    public var facts: [Fact] {
      let options = core.options
      var facts: [Fact] = [
        .connections(perOrigin: options.connectionsPerOrigin, total: options.connections),
        .time("connect limit", options.connectTimeout), .time("first byte limit", options.firstByteTimeout),
        .time("stall limit", options.stallTimeout), .time("idle limit", options.idleTimeout),
      ]
      if let waiting = options.waiting { facts.append(.setting("waiting up to", "\(waiting)")) }
      if let age = options.maximumAge { facts.append(.time("age limit", age)) }
      switch options.proxy {
      case .none: break
      case .proxy(let proxy): facts.append(.setting("proxy", "\(proxy)"))
      case .environment: facts.append(.setting("proxy", "of the environment's variables"))
      }
      return facts
    }
  }
#endif
