import Synchronization

/// A table of facts about types, by the address of a type's metadata.
///
/// Casting a type to a protocol takes longer than decoding a small value. An entry is one word: the address, with the
/// fact in the highest bits. Entries are read and replaced atomically. The fact of a replaced entry is computed again.
struct TypeTable: @unchecked Sendable {
  private static let size = 256
  // Addresses have at most 56 bits on the platforms that Apus supports.
  private static let shift = UInt(UInt.bitWidth - 8)
  // An unsafe pointer, because atomics cannot be moved in memory; tables are never freed.
  private let entries: UnsafeMutablePointer<Atomic<UInt>>

  init() {
    entries = .allocate(capacity: Self.size)
    for index in 0..<Self.size { (entries + index).initialize(to: Atomic(0)) }
  }

  /// Returns the fact of a type, if it is known.
  @inline(__always) func known(_ type: Any.Type) -> UInt? {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let entry = slot(address).pointee.load(ordering: .relaxed)
    return (entry ^ address) << 8 == 0 ? entry >> Self.shift : nil
  }

  /// - Parameter fact: a number of 8 bits.
  func remember(_ type: Any.Type, _ fact: UInt) {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    guard address >> Self.shift == 0 else { return }
    slot(address).pointee.store(address | fact << Self.shift, ordering: .relaxed)
  }

  @inline(__always) private func slot(_ address: UInt) -> UnsafeMutablePointer<Atomic<UInt>> {
    entries + Int((address >> 4 ^ address >> 12) & UInt(Self.size - 1))
  }
}
