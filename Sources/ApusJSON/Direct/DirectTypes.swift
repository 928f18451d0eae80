/// The types that read or write themselves.
struct DirectTypes: Sendable {
  static let shared = DirectTypes()
  private let table = TypeTable()

  private static let readable: UInt = 1
  private static let writable: UInt = 2

  @inline(__always) func isReadable(_ type: Any.Type) -> Bool { facts(type) & Self.readable != 0 }
  @inline(__always) func isWritable(_ type: Any.Type) -> Bool { facts(type) & Self.writable != 0 }

  @inline(__always) private func facts(_ type: Any.Type) -> UInt { table.known(type) ?? find(type) }

  @inline(never) private func find(_ type: Any.Type) -> UInt {
    let facts =
      (type is any JSONReadable.Type ? Self.readable : 0) | (type is any JSONWritable.Type ? Self.writable : 0)
    table.remember(type, facts)
    return facts
  }
}
