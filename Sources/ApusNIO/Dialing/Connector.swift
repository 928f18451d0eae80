#if NIO
  import ApusCore
  import NIOCore

  /// Makes connections.
  final class Connector: Sendable {
    typealias Completion = @Sendable (Result<Connection, TransportError>) -> Void

    let options: NIOTransport.Options

    init(options: NIOTransport.Options) {
      self.options = options
    }

    /// Connects to an origin; `completion` is called once, on the loop.
    func connect(
      to origin: Origin, on loop: any EventLoop, core: TransportCore, completion: @escaping Completion
    ) {
      // Never at once: whoever asks may hold a lock or be inside of a read.
      loop.execute { Dial(to: origin, on: loop, core: core, completion: completion).start() }
    }
  }
#endif
