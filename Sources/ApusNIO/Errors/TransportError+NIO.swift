#if NIO
  import ApusCore
  import NIOCore
  import NIOPosix
  import NIOSSL

  extension TransportError {
    /// The transport takes no more messages, or stops those that run.
    static let shutDown = TransportError(.declined, requestState: .notSent, detail: "the transport is shut down")

    /// No connection came to be: nothing was sent.
    init(connecting error: any Error, to origin: Origin) {
      switch error {
      case let error as TransportError: self = error
      case let error as IOError: self.init(Self.kind(of: error), requestState: .notSent, underlying: error)
      case ChannelError.connectTimeout:
        self.init(.timedOut(.connecting), requestState: .notSent, detail: "connecting took too long", underlying: error)
      case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
        self.init(.tls, requestState: .notSent, detail: "\(error)", underlying: error)
      default: self.init(.connectionFailed, requestState: .notSent, detail: "\(type(of: error))", underlying: error)
      }
      if detail.isEmpty { detail = "\(error)" }
    }

    private static func kind(of error: IOError) -> Kind {
      switch error.errnoCode {
      case ENETUNREACH, ENETDOWN: .offline
      case ETIMEDOUT: .timedOut(.connecting)
      default: .connectionFailed
      }
    }
  }
#endif
