#if NIO
  import ApusCore
  import NIOCore
  import NIOPosix

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// Finds the addresses of a host.
  enum AddressLookup {
    /// The addresses, in the order in which the system would try them (RFC 6724); at once for a host that is an address.
    ///
    /// The system's call blocks, so it is made on a thread that may. It fails with a ``TransportError``.
    static func addresses(of host: String, port: Int, on loop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
      if let address = literal(host, port: port) { return loop.makeSucceededFuture([address]) }
      return NIOThreadPool.singleton.runIfActive(eventLoop: loop) { try lookUp(host, port: port) }
    }

    /// Whether the host is an address, with IPv6 in brackets.
    static func literal(_ host: String, port: Int) -> SocketAddress? {
      let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
      let text = isBracketed ? String(host.dropFirst().dropLast()) : host
      // No name begins its last label with a digit or holds a colon: the call that parses is saved for most.
      guard isBracketed || text.utf8.last.map({ $0 >= 0x30 && $0 <= 0x39 }) == true else { return nil }
      return try? SocketAddress(ipAddress: text, port: port)
    }

    private static func lookUp(_ host: String, port: Int) throws -> [SocketAddress] {
      var hints = addrinfo()
      #if canImport(Darwin) || canImport(Musl)
        hints.ai_socktype = SOCK_STREAM
      #else
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      #endif
      hints.ai_protocol = CInt(IPPROTO_TCP)
      var list: UnsafeMutablePointer<addrinfo>?
      let code = getaddrinfo(host, String(port), &hints, &list)
      defer { if let list { freeaddrinfo(list) } }
      guard code == 0 else {
        let text = String(cString: gai_strerror(code))
        // A name server that does not answer says nothing about the name, nor that anything else would be reached.
        throw TransportError(.hostNotFound, requestState: .notSent, detail: "looking the host up: \(text)")
      }
      var addresses: [SocketAddress] = []
      var entry = list
      while let current = entry?.pointee {
        if let address = Self.address(current), !addresses.contains(address) { addresses.append(address) }
        entry = current.ai_next
      }
      guard !addresses.isEmpty else {
        throw TransportError(.hostNotFound, requestState: .notSent, detail: "the host has no address")
      }
      return addresses
    }

    private static func address(_ info: addrinfo) -> SocketAddress? {
      guard let pointer = info.ai_addr else { return nil }
      let raw = UnsafeRawPointer(pointer)
      switch info.ai_family {
      case AF_INET: return SocketAddress(raw.loadUnaligned(as: sockaddr_in.self))
      case AF_INET6: return SocketAddress(raw.loadUnaligned(as: sockaddr_in6.self))
      default: return nil
      }
    }
  }
#endif
