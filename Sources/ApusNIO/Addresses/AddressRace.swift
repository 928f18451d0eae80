import ApusCore
import NIOCore
import NIOPosix

/// A race of connection attempts to a host's addresses. Performs the actions of ``HappyEyeballsState``; belongs to
/// its event loop.
final class AddressRace {
  private typealias State = HappyEyeballsState<SocketAddress, any Error>

  private let loop: any EventLoop
  private let clock = SystemClock()
  private var state: State
  private var channels: [SocketAddress: any Channel] = [:]
  private var completion: ((Result<any Channel, any Error>) -> Void)?

  /// - Parameters:
  ///   - addresses: the addresses in the resolver's order.
  ///   - completion: called once on the loop, unless the race is cancelled first.
  init(
    _ addresses: [SocketAddress], on loop: any EventLoop,
    completion: @escaping (Result<any Channel, any Error>) -> Void
  ) {
    self.loop = loop
    self.completion = completion
    state = State(AddressOrder.interleaved(addresses) { $0.protocol == .inet6 })
  }

  func start() {
    perform(state.start(now: clock.now))
  }

  /// Cancels the race; `completion` is not called.
  func cancel() {
    completion = nil
    perform(state.cancel())
  }

  private func perform(_ actions: [State.Action]) {
    for action in actions {
      switch action {
      case .connect(let address): connect(to: address)
      case .wait(let instant):
        loop.assumeIsolated().scheduleTask(in: TimeAmount(clock.now.duration(to: instant))) {
          self.perform(self.state.waited(now: self.clock.now))
        }
      case .close(let address): channels.removeValue(forKey: address)?.close(promise: nil)
      case .succeed(let address):
        if let channel = channels.removeValue(forKey: address) { complete(.success(channel)) }
      case .fail(let failures):
        complete(.failure(Self.cause(of: failures)))
      }
    }
  }

  /// Returns the error of the race. The first choice is the first failure that is not a missing network, the second
  /// choice is the first failure of an IPv4 address.
  ///
  /// Many networks have no IPv6: an unreachable IPv6 address alone does not mean that there is no network.
  static func cause(of failures: [(address: SocketAddress, failure: any Error)]) -> any Error {
    let reached = failures.first { !isNoNetwork($0.failure) } ?? failures.first { $0.address.protocol != .inet6 }
    if let reached { return AddressFailure(address: reached.address, underlying: reached.failure) }
    guard let address = failures.first?.address else { return NoAddress() }
    let noWay = IOError(errnoCode: EHOSTUNREACH, reason: "no route to an IPv6 address")
    return AddressFailure(address: address, underlying: noWay)
  }

  private static func isNoNetwork(_ error: any Error) -> Bool {
    guard let error = error as? IOError else { return false }
    return error.errnoCode == ENETUNREACH || error.errnoCode == ENETDOWN
  }

  private func connect(to address: SocketAddress) {
    let race = NIOLoopBound(self, eventLoop: loop)
    ClientBootstrap(group: loop)
      .channelOption(.writeBufferWaterMark, value: .init(low: 64 << 10, high: 256 << 10))
      // ClientBootstrap's connect timeout, which applies to each address, is disabled, because
      // `ConnectSettings.timeout` limits the whole attempt.
      .connectTimeout(.hours(24))
      .channelInitializer { channel in
        // Stored before the connection succeeds, so that `cancel` can close it.
        race.value.channels[address] = channel
        return channel.eventLoop.makeSucceededVoidFuture()
      }
      .connect(to: address)
      .assumeIsolated().whenComplete { result in
        switch result {
        case .success: self.perform(self.state.succeeded(address))
        case .failure(let error):
          self.channels[address] = nil
          self.perform(self.state.failed(address, error, now: self.clock.now))
        }
      }
  }

  private func complete(_ result: Result<any Channel, any Error>) {
    let completion = completion
    self.completion = nil
    if let completion { return completion(result) }
    if case .success(let channel) = result { channel.close(promise: nil) }
  }

  /// The failure of a host without any address.
  struct NoAddress: Error {}
}

/// A failed connection attempt to one address.
struct AddressFailure: Error {
  let address: SocketAddress
  let underlying: any Error
}
