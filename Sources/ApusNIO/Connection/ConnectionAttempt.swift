import ApusCore
import NIOCore
import NIOPosix
import Synchronization

/// One attempt to make a connection: name resolution, TCP, a proxy's tunnel and TLS, within one timeout. Belongs to its
/// event loop.
final class ConnectionAttempt {
  typealias Completion = (Result<ConnectedChannel, TransportError>) -> Void

  private enum Stage: String {
    case lookup = "looking up"
    case connect = "connecting to"
    case tunnel = "waiting for the response to CONNECT of"
    case handshake = "the TLS handshake with"
  }

  private let origin: Origin
  private let loop: any EventLoop
  private let settings: ConnectSettings
  /// The versions of HTTP to offer, the preferred one first.
  private let versions: [HTTPVersion]
  private var completion: Completion?
  private var proxy: ProxyServer?
  private var timings = ConnectTimings()
  private var phaseStart = NIODeadline.now()
  /// The current stage, for the detail of a timeout error.
  private var stage = Stage.lookup
  private var timer: Scheduled<Void>?
  /// The channel to close if the connection attempt fails.
  private var channel: (any Channel)?
  private var race: AddressRace?
  private var lookup: NameResolver.Lookup?
  /// Whether the connection attempt was given up because no exchange waits for the connection.
  private(set) var isGivenUp = false

  init(to origin: Origin, on loop: any EventLoop, versions: [HTTPVersion], settings: ConnectSettings) {
    self.origin = origin
    self.versions = versions
    self.loop = loop
    self.settings = settings
  }

  /// Starts the connection attempt. `completion` is called once.
  func start(_ completion: @escaping Completion) {
    self.completion = completion
    if let timeout = settings.timeout {
      timer = loop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { self.timedOut() }
    }
    do {
      proxy = try settings.proxyRules.proxy(to: origin)
    } catch {
      return fail(error)
    }
    guard proxy == nil || origin.scheme == "https" || versions.contains(.http1) else {
      return fail(
        TransportError(
          .connectionFailed, requestState: .notSent, detail: "a proxy forwards requests only over HTTP/1.1"))
    }
    guard proxy == nil || settings.addresses == .any else { return fail(DestinationRefusal.uncheckedAddress.error) }
    resolve(proxy?.host ?? origin.host, port: proxy?.port ?? origin.port)
  }

  /// The peer that receives the bytes: the proxy, if there is one, until its tunnel is open.
  var peer: ConnectPeer {
    guard let proxy, stage != .handshake else {
      return ConnectPeer(host: origin.host, port: origin.port, isProxy: false)
    }
    return ConnectPeer(host: proxy.host, port: proxy.port, isProxy: true)
  }

  private func resolve(_ host: String, port: Int) {
    if let address = AddressLookup.literal(host, port: port) { return connect(to: [address]) }
    let lookup = settings.resolver.lookUp(host, on: loop)
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
    // Connects to a checked address instead of the name, because a second lookup could return other addresses.
    let allowed = addresses.filter { settings.allows($0) }
    guard !allowed.isEmpty || addresses.isEmpty else { return fail(DestinationRefusal.address.error) }
    let race = AddressRace(allowed, on: loop) { result in
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
    Tunnel.open(to: origin, through: proxy, on: channel, limits: settings.framingLimits).assumeIsolated()
      .whenComplete { result in
        switch result {
        case .success: self.reached(channel)
        case .failure(let error): self.fail(error)
        }
      }
  }

  /// Continues with a channel to the origin, or to a proxy that forwards requests to the origin.
  private func reached(_ channel: any Channel) {
    // Bytes read before the TLS handler is added would be lost, so reading waits for it.
    if origin.scheme == "https" { try? channel.syncOptions?.setOption(.autoRead, value: false) }
    timings.connect = endPhase()
    guard origin.scheme == "https" else {
      // Without TLS nothing is negotiated: HTTP/2 is used only if nothing else is permitted (RFC 9113 §3.3).
      return finish(channel, versions.contains(.http1) ? .http1 : .http2)
    }
    stage = .handshake
    let isForeignAddress = proxy != nil && AddressLookup.literal(origin.host, port: origin.port) != nil
    let variant = SecureContext.Variant(
      identification: isForeignAddress ? .ours : .library, versions: versions)
    settings.secureContext.context(variant, on: loop)
      .flatMap { [origin, pins = settings.pins] context in
        Handshake.perform(with: origin.host, on: channel, context: context, pins: pins)
      }
      .assumeIsolated()
      .whenComplete { result in
        switch result {
        case .success(let name):
          self.timings.handshake = self.endPhase()
          self.negotiated(name, on: channel)
        case .failure(let error):
          self.fail(TLSFailure.reason(of: error) == TLSFailure.wrongVersion ? self.wrongVersion : error)
        }
      }
  }

  /// Continues after the handshake. A server that has chosen no protocol speaks HTTP/1.1 (RFC 9113 §3.2).
  private func negotiated(_ name: String?, on channel: any Channel) {
    let version = name == HTTPVersion.http2.applicationProtocol ? HTTPVersion.http2 : .http1
    guard versions.contains(version) else { return fail(wrongVersion) }
    finish(channel, version)
  }

  private var wrongVersion: TransportError {
    let names = versions.map { "HTTP/\($0.rawValue)" }.joined(separator: " or ")
    return TransportError(.connectionFailed, requestState: .notSent, detail: "\(peer) does not speak \(names)")
  }

  /// Completes the connection attempt with a channel that is ready.
  private func finish(_ channel: any Channel, _ version: HTTPVersion) {
    guard let completion else { return channel.close(promise: nil) }
    // A channel that is already closed would not report its end to a handler added later.
    guard channel.isActive else { return fail(ChannelError.eof) }
    timer?.cancel()
    self.channel = nil
    self.completion = nil
    completion(.success(ConnectedChannel(channel: channel, version: version, timings: timings)))
  }

  private func endPhase() -> Duration {
    let now = NIODeadline.now()
    defer { phaseStart = now }
    return Duration(now - phaseStart)
  }

  // MARK: Ending

  /// Cancels the connection attempt because the transport shuts down.
  func cancel() {
    fail(TransportError.shutDown)
  }

  /// Gives up the connection attempt if it is still resolving the name: no call waits for the connection, and the
  /// lookup would delay other lookups. A connection attempt that is past the lookup continues, for the next caller.
  func giveUpLookup() {
    guard lookup != nil else { return }
    isGivenUp = true
    fail(CancellationError())
  }

  private func timedOut() {
    let limit = settings.timeout.map { " longer than \($0), the connectTimeout" } ?? " too long"
    fail(
      TransportError(
        .timeout, in: .connecting, requestState: .notSent, detail: "\(stage.rawValue) \(peer) took\(limit)"))
  }

  private func fail(_ error: any Error) {
    timer?.cancel()
    // `completion` is cleared first: closing the channel reports further failures, which are consequences of this
    // failure.
    let completion = completion
    self.completion = nil
    if let lookup { settings.resolver.cancel(lookup) }
    lookup = nil
    race?.cancel()
    race = nil
    channel?.close(promise: nil)
    channel = nil
    completion?(.failure(TransportError(connecting: error, to: peer)))
  }
}

/// The settings that all connection attempts of a transport share.
struct ConnectSettings: Sendable {
  /// The timeout for the whole connection attempt; `nil` for none.
  let timeout: Duration?
  let proxyRules: ProxyRules
  let secureContext: SecureContext
  let pins: [PinnedHost]
  let addresses: AddressPolicy
  let framingLimits: FramingLimits
  let resolver: NameResolver
}

extension ConnectSettings {
  /// Whether the address policy allows an address.
  fileprivate func allows(_ address: SocketAddress) -> Bool {
    addresses == .any || addresses.allows(address.ipAddress.flatMap { AddressBytes.of($0) } ?? [])
  }
}

/// A channel on which requests can be sent, and the durations of the connection attempt that made it.
struct ConnectedChannel {
  let channel: any Channel
  let version: HTTPVersion
  let timings: ConnectTimings
}

/// The durations of a connection attempt's phases.
struct ConnectTimings: Sendable {
  /// Name resolution; `nil` if the host was an address.
  var lookup: Duration?
  /// The time from the first connection attempt to the first success, including a proxy's tunnel.
  var connect = Duration.zero
  /// The TLS handshake; `nil` without TLS.
  var handshake: Duration?

  /// The sum of the phases.
  var total: Duration { (lookup ?? .zero) + connect + (handshake ?? .zero) }
}

/// The running connection attempts of a transport.
final class ConnectionAttempts: Sendable {
  private struct Entry: Sendable {
    let origin: Origin
    let loop: any EventLoop
    let attempt: NIOLoopBound<ConnectionAttempt>
  }

  private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

  /// Adds a connection attempt. Call it on the connection attempt's loop.
  func add(_ attempt: ConnectionAttempt, to origin: Origin, on loop: any EventLoop) {
    let entry = Entry(origin: origin, loop: loop, attempt: NIOLoopBound(attempt, eventLoop: loop))
    entries.withLock { $0[ObjectIdentifier(attempt)] = entry }
  }

  func remove(_ attempt: ConnectionAttempt) {
    // The entry is released outside of the lock.
    let entry = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(attempt)) }
    withExtendedLifetime(entry) {}
  }

  /// Gives up the connection attempts that are still resolving the name of an origin.
  func giveUpLookups(of origin: Origin) {
    for entry in entries.withLock({ $0.values.filter { $0.origin == origin } }) {
      entry.loop.execute { entry.attempt.value.giveUpLookup() }
    }
  }

  func cancelAll() {
    for entry in entries.withLock({ Array($0.values) }) {
      entry.loop.execute { entry.attempt.value.cancel() }
    }
  }
}
