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
    /// What takes its time, for logs.
    private var stage = "finding the address"
    private var limit: Scheduled<Void>?
    /// What is closed when the dial fails.
    private var channel: (any Channel)?
    private var race: AddressRace?

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

    private func lookUp(_ host: String, port: Int) {
      let isName = AddressLookup.literal(host, port: port) == nil
      AddressLookup.addresses(of: host, port: port, on: loop).assumeIsolated().whenComplete { result in
        switch result {
        case .success(let addresses):
          if isName { self.timings.lookup = self.endPhase() }
          self.connect(to: addresses)
        case .failure(let error): self.fail(error)
        }
      }
    }

    private func connect(to addresses: [SocketAddress]) {
      guard completion != nil else { return }
      stage = "connecting"
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
      stage = "the proxy's answer to CONNECT"
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
      stage = "the TLS handshake"
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

    private func timedOut() {
      fail(TransportError(.timedOut(.connecting), requestState: .notSent, detail: "\(stage) took too long"))
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
      race?.cancel()
      race = nil
      channel?.close(promise: nil)
      channel = nil
      completion?(.failure(TransportError(connecting: error, to: origin)))
    }
  }
#endif
