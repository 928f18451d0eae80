/// The types that read or write themselves, and containers of such types.
///
/// Containers of other types are decoded and encoded, because the specialized functions for this are faster.
struct DirectTypes: Sendable {
  static let shared = DirectTypes()
  private let table = TypeTable()

  private static let readable: UInt = 1
  private static let writable: UInt = 2

  @inline(__always) func isReadable(_ type: Any.Type) -> Bool { facts(type) & Self.readable != 0 }
  @inline(__always) func isWritable(_ type: Any.Type) -> Bool { facts(type) & Self.writable != 0 }

  @inline(__always) private func facts(_ type: Any.Type) -> UInt { table.known(type) ?? find(type) }

  @inline(never) private func find(_ type: Any.Type) -> UInt {
    var facts: UInt = 0
    switch TypeClasses.shared[TypeClasses.contained(in: type)] {
    case .ordinary, .readable:
      if type is any JSONReadable.Type { facts |= Self.readable }
      if type is any JSONWritable.Type { facts |= Self.writable }
    default: break
    }
    table.remember(type, facts)
    return facts
  }
}
