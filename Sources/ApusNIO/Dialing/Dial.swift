#if NIO
  import ApusCore
  import NIOCore
  import NIOPosix

  /// One connection in the making: addresses, TCP, a proxy's tunnel, TLS, all within one time limit. Lives on its event
  /// loop.
  final class Dial {
    typealias Completion = (Result<Connection, TransportError>) -> Void

    private let origin: Origin
    private let loop: any EventLoop
    private let core: TransportCore
    private var completion: Completion?
    private var proxy: NIOTransport.Proxy?
    private var timings = DialTimings()
    private var phaseStart = NIODeadline.now()
    /// What takes its time, for errors.
    private var stage = Stage.lookup
    private var limit: Scheduled<Void>?
    /// What is closed when the dial fails.
    private var channel: (any Channel)?
    private var race: AddressRace?
    private var lookup: NameResolver.Lookup?
    /// Whether it was given up because no exchange waits for the connection any more.
    private(set) var isGivenUp = false

    private enum Stage: String {
      case lookup = "looking up"
      case connect = "connecting to"
      case tunnel = "waiting for the answer to CONNECT of"
      case handshake = "the TLS handshake with"
    }

    init(to origin: Origin, on loop: any EventLoop, core: TransportCore) {
      self.origin = origin
      self.loop = loop
      self.core = core
    }

    /// Begins; `completion` is called once.
    func start(_ completion: @escaping Completion) {
      self.completion = completion
      if let timeout = core.connectTimeout {
        limit = loop.assumeIsolated().scheduleTask(in: timeout) { self.timedOut() }
      }
      do {
        proxy = try core.proxyRules.proxy(to: origin)
      } catch {
        return fail(error)
      }
      lookUp(proxy?.host ?? origin.host, port: proxy?.port ?? origin.port)
    }

    /// Whom bytes go to: the proxy, where there is one, until it has made a tunnel.
    private var peer: DialPeer {
      guard let proxy, stage != .handshake else {
        return DialPeer(host: origin.host, port: origin.port, isProxy: false)
      }
      return DialPeer(host: proxy.host, port: proxy.port, isProxy: true)
    }

    private func lookUp(_ host: String, port: Int) {
      if let address = AddressLookup.literal(host, port: port) { return connect(to: [address]) }
      let lookup = core.resolver.lookUp(host, on: loop)
      self.lookup = lookup
      lookup.addresses.assumeIsolated().whenComplete { result in
        self.lookup = nil
        switch result {
        case .success(var addresses):
          self.timings.lookup = self.endPhase()
          for index in addresses.indices { addresses[index].port = port }
          self.connect(to: addresses)
        case .failure(let error): self.fail(error)
        }
      }
    }

    private func connect(to addresses: [SocketAddress]) {
      guard completion != nil else { return }
      stage = .connect
      let race = AddressRace(addresses, on: loop) { result in
        self.race = nil
        switch result {
        case .success(let channel): self.connected(channel)
        case .failure(let error): self.fail(error)
        }
      }
      self.race = race
      race.start()
    }

    private func connected(_ channel: any Channel) {
      guard completion != nil else { return channel.close(promise: nil) }
      self.channel = channel
      guard let proxy, origin.scheme == "https" else { return reached(channel) }
      stage = .tunnel
      Tunnel.open(to: origin, through: proxy, on: channel, limits: core.framingLimits).assumeIsolated().whenComplete {
        result in
        switch result {
        case .success: self.reached(channel)
        case .failure(let error): self.fail(error)
        }
      }
    }

    /// Bytes sent from now on reach the origin, or the proxy that speaks for it.
    private func reached(_ channel: any Channel) {
      // What comes before TLS listens waits for it: read by nobody, it would be lost unseen.
      if origin.scheme == "https" { try? channel.syncOptions?.setOption(.autoRead, value: false) }
      timings.connect = endPhase()
      guard origin.scheme == "https" else { return hand(over: channel) }
      stage = .handshake
      let isForeignAddress = proxy != nil && AddressLookup.literal(origin.host, port: origin.port) != nil
      core.secureContext.context(identifiedBy: isForeignAddress ? .ours : .library, on: loop)
        .flatMap { [origin, core] context in
          Handshake.perform(with: origin.host, on: channel, context: context, pins: core.options.trust.pins)
        }
        .assumeIsolated()
        .whenComplete { result in
          switch result {
          case .success:
            self.timings.handshake = self.endPhase()
            self.hand(over: channel)
          case .failure(let error): self.fail(error)
          }
        }
    }

    /// Makes a channel that is ready a connection.
    private func hand(over channel: any Channel) {
      guard completion != nil else { return channel.close(promise: nil) }
      // One that is closed already would never say so to a handler that comes late.
      guard channel.isActive else { return fail(ChannelError.eof) }
      do {
        let handler = ConnectionHandler(core: core)
        try channel.pipeline.syncOperations.addHandler(handler)
        let connection = Connection(to: origin, channel: channel, handler: handler, timings: timings)
        handler.connection = connection
        succeed(connection)
      } catch {
        fail(error)
      }
    }

    private func endPhase() -> Duration {
      let now = NIODeadline.now()
      defer { phaseStart = now }
      return Duration(now - phaseStart)
    }

    // MARK: Ending

    /// Gives it up, because the transport is shut down.
    func cancel() {
      fail(TransportError.shutDown)
    }

    /// Gives it up while the name is looked up, because nobody waits for the connection: the lookup would keep others
    /// waiting. A connection that is being made is kept for the next who needs one.
    func giveUpLookup() {
      guard lookup != nil else { return }
      isGivenUp = true
      fail(CancellationError())
    }

    private func timedOut() {
      let limit = core.options.connectTimeout.map { " longer than \($0), the connectTimeout" } ?? " too long"
      fail(
        TransportError(
          .timedOut(.connecting), requestState: .notSent, detail: "\(stage.rawValue) \(peer) took\(limit)"))
    }

    private func succeed(_ connection: Connection) {
      limit?.cancel()
      channel = nil
      guard let completion else { return connection.close() }
      self.completion = nil
      completion(.success(connection))
    }

    private func fail(_ error: any Error) {
      limit?.cancel()
      // Taken first: closing has failures of its own to report, which come of this one.
      let completion = completion
      self.completion = nil
      if let lookup { core.resolver.cancel(lookup) }
      lookup = nil
      race?.cancel()
      race = nil
      channel?.close(promise: nil)
      channel = nil
      completion?(.failure(TransportError(connecting: error, to: peer)))
    }
  }
#endif
