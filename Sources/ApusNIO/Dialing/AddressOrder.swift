#if NIO
  /// In which order a host's addresses are tried.
  enum AddressOrder {
    /// Alternates between the two families, beginning with the one that the resolver put first (RFC 8305 §4); within a
    /// family the resolver's order is kept, which is that of RFC 6724.
    static func interleaved<Address>(_ addresses: [Address], isIPv6: (Address) -> Bool) -> [Address] {
      guard let first = addresses.first else { return [] }
      let preference = isIPv6(first)
      let preferred = addresses.filter { isIPv6($0) == preference }
      let others = addresses.filter { isIPv6($0) != preference }
      var ordered: [Address] = []
      ordered.reserveCapacity(addresses.count)
      for index in 0..<max(preferred.count, others.count) {
        if index < preferred.count { ordered.append(preferred[index]) }
        if index < others.count { ordered.append(others[index]) }
      }
      return ordered
    }
  }
#endif
