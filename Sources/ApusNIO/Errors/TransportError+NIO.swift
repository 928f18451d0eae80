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
  /// The error of calls that a transport refuses or stops because it shuts down.
  static let shutDown = TransportError(.refused, requestState: .notSent, detail: "the transport is shut down")

  /// Creates the error of a connection that could not be made. Nothing was sent.
  ///
  /// - Parameters:
  ///   - error: the cause.
  ///   - peer: the host or proxy to which the connection was to be made.
  init(connecting error: any Error, to peer: ConnectPeer) {
    switch error {
    case let error as TransportError: self = error
    case let error as AddressFailure:
      self.init(connecting: error.underlying, to: peer.at(error.address))
    case let error as IOError:
      self.init(
        Self.code(of: error), in: error.errnoCode == ETIMEDOUT ? .connecting : nil, requestState: .notSent,
        detail: Self.text(of: error, peer: peer), underlying: error)
    case ChannelError.connectTimeout:
      self.init(
        .timeout, in: .connecting, requestState: .notSent, detail: "\(peer) did not accept the connection in time",
        underlying: error)
    case ChannelError.eof:
      self.init(
        .connectionFailed, requestState: .notSent, detail: "\(peer) closed the connection while it was being made",
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

  private static func code(of error: IOError) -> CallError.Code {
    switch error.errnoCode {
    case ENETUNREACH, ENETDOWN: .offline
    case ETIMEDOUT: .timeout
    default: .connectionFailed
    }
  }

  private static func text(of error: IOError, peer: ConnectPeer) -> String {
    switch error.errnoCode {
    case ECONNREFUSED: "connection refused by \(peer)"
    case ECONNRESET, EPIPE: "connection reset by \(peer) while it was being made"
    case EHOSTUNREACH: "no route to \(peer)"
    case ENETUNREACH: "the network of \(peer) is unreachable"
    case ENETDOWN: "the network is down: \(peer) cannot be reached"
    case ETIMEDOUT: "\(peer) did not accept the connection in time"
    case EADDRNOTAVAIL: "no local port is free for a connection to \(peer)"
    case EMFILE, ENFILE: "too many files are open for a connection to \(peer)"
    case EACCES, EPERM: "the system does not permit a connection to \(peer)"
    default: "no connection to \(peer): \(systemText(error.errnoCode))"
    }
  }

  /// Returns the system's own description of an error number.
  static func systemText(_ code: CInt) -> String {
    strerror(code).map { String(cString: $0) } ?? "system error \(code)"
  }

  /// Describes why a connection broke before its response was complete; `nil` if it was simply closed.
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

/// The host to which a connection is made, as described in errors: the origin, or its proxy.
struct ConnectPeer: Sendable, CustomStringConvertible {
  let host: String
  let port: Int
  let isProxy: Bool
  /// The address of the current attempt; `nil` before the first attempt.
  var address: String?

  init(host: String, port: Int, isProxy: Bool) {
    (self.host, self.port, self.isProxy) = (host, port, isProxy)
  }

  func at(_ address: SocketAddress) -> ConnectPeer {
    var peer = self
    // If the host is itself an address, the description already contains it.
    if AddressBytes.of(host) == nil { peer.address = address.ipAddress }
    return peer
  }

  /// `example.com:443 (192.0.2.1)`, `127.0.0.1:8080`, `the proxy proxy.example:3128 (192.0.2.2)`.
  var description: String {
    "\(isProxy ? "the proxy " : "")\(host):\(port)" + (address.map { " (\($0))" } ?? "")
  }
}
