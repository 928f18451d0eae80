#if NIO
  import ApusCore
  import NIOCore
  import NIOPosix
  import NIOSSL

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Darwin)
    import Darwin
  #endif

  extension TransportError {
    /// The transport takes no more messages, or stops those that run.
    static let shutDown = TransportError(.declined, requestState: .notSent, detail: "the transport is shut down")

    /// No connection came to be: nothing was sent.
    ///
    /// - Parameters:
    ///   - error: what happened.
    ///   - peer: whom the connection was to lead to, as ``DialPeer`` names it.
    init(connecting error: any Error, to peer: DialPeer) {
      switch error {
      case let error as TransportError: self = error
      case let error as AddressFailure:
        self.init(connecting: error.underlying, to: peer.at(error.address))
      case let error as IOError:
        self.init(
          Self.kind(of: error), requestState: .notSent, detail: Self.text(of: error, peer: peer), underlying: error)
      case ChannelError.connectTimeout:
        self.init(
          .timedOut(.connecting), requestState: .notSent, detail: "\(peer) did not take the connection in time",
          underlying: error)
      case ChannelError.eof:
        self.init(
          .connectionFailed, requestState: .notSent, detail: "\(peer) closed the connection while it was made",
          underlying: error)
      default:
        if let reason = TLSFailure.reason(of: error) {
          let failure = error as? TLSFailure
          self.init(
            .tls, requestState: .notSent, detail: "no secure connection to \(peer): \(reason)",
            underlying: failure == nil ? error : failure?.underlying)
        } else {
          self.init(
            .connectionFailed, requestState: .notSent, detail: "no connection to \(peer)", underlying: error)
        }
      }
    }

    private static func kind(of error: IOError) -> Kind {
      switch error.errnoCode {
      case ENETUNREACH, ENETDOWN: .offline
      case ETIMEDOUT: .timedOut(.connecting)
      default: .connectionFailed
      }
    }

    private static func text(of error: IOError, peer: DialPeer) -> String {
      switch error.errnoCode {
      case ECONNREFUSED: "connection refused by \(peer)"
      case ECONNRESET, EPIPE: "connection reset by \(peer) while it was made"
      case EHOSTUNREACH: "no route to \(peer)"
      case ENETUNREACH: "the network of \(peer) cannot be reached"
      case ENETDOWN: "the network is down: \(peer) cannot be reached"
      case ETIMEDOUT: "\(peer) did not take the connection in time"
      case EADDRNOTAVAIL: "no local port is free for a connection to \(peer)"
      case EMFILE, ENFILE: "too many files are open for a connection to \(peer)"
      case EACCES, EPERM: "the system does not permit a connection to \(peer)"
      default: "no connection to \(peer): \(systemText(error.errnoCode))"
      }
    }

    /// The system's own words for a code of its errors.
    static func systemText(_ code: CInt) -> String {
      strerror(code).map { String(cString: $0) } ?? "system error \(code)"
    }

    /// Why a connection ended before its answer was complete, where it was not simply closed.
    static func text(ofBreak cause: (any Error)?) -> String? {
      guard let cause else { return nil }
      if let reason = TLSFailure.reason(of: cause) { return reason }
      guard let error = cause as? IOError else { return nil }
      switch error.errnoCode {
      case ECONNRESET, EPIPE: return "the server reset the connection"
      case ETIMEDOUT: return "the server can no longer be reached"
      default: return systemText(error.errnoCode)
      }
    }
  }

  /// Whom a connection that is made leads to, as errors name it: the origin, or the proxy on the way.
  struct DialPeer: Sendable, CustomStringConvertible {
    let host: String
    let port: Int
    let isProxy: Bool
    /// The address that was tried; `nil`: none yet.
    var address: String?

    init(host: String, port: Int, isProxy: Bool) {
      (self.host, self.port, self.isProxy) = (host, port, isProxy)
    }

    func at(_ address: SocketAddress) -> DialPeer {
      var peer = self
      // A host that is an address needs not be told twice.
      if AddressBytes.of(host) == nil { peer.address = address.ipAddress }
      return peer
    }

    /// `example.com:443 (192.0.2.1)`, `127.0.0.1:8080`, `the proxy proxy.example:3128 (192.0.2.2)`.
    var description: String {
      "\(isProxy ? "the proxy " : "")\(host):\(port)" + (address.map { " (\($0))" } ?? "")
    }
  }

  /// An address to which no connection could be made.
  struct AddressFailure: Error {
    let address: SocketAddress
    let underlying: any Error
  }
#endif
