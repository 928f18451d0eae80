import Foundation
import MallocCounter

/// The memory of this process.
struct Memory {
  /// Resident bytes; 0 except on Linux.
  let resident: Int
  /// Allocated bytes, as far as the allocator counts them.
  let allocated: UInt64
  /// The number of allocations since the start of the process.
  let allocations: UInt64

  static var now: Memory {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    let pages = fields.count > 1 ? Int(fields[1]) ?? 0 : 0
    return Memory(
      resident: pages * Int(getpagesize()), allocated: malloc_counter_bytes(), allocations: malloc_counter_count())
  }

  /// Returns the growth for each of `count` objects: resident bytes, allocated bytes, allocations.
  func growth(since before: Memory, each count: Int) -> [Double] {
    [
      Double(resident - before.resident), Double(allocated) - Double(before.allocated),
      Double(allocations) - Double(before.allocations),
    ].map { $0 / Double(count) }
  }
}
