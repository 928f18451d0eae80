/// What happens before a request can be sent: as far as a transport can tell.
public enum ConnectionPhase: String, Sendable, Hashable, CaseIterable {
  /// Waiting for a connection, without the time in which one was being made for it.
  case queued
  /// Finding the addresses of the host's name.
  case nameLookup
  /// Connecting to an address, and where there is one through a proxy.
  case connecting
  /// The TLS handshake.
  case securing
}
