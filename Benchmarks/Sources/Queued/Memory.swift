import Foundation
import MallocCounter

/// What this process has in memory.
struct Memory {
  /// Bytes that are resident; 0 elsewhere than on Linux.
  let resident: Int
  /// Bytes that the allocator has handed out, as far as they are counted.
  let allocated: UInt64
  /// How often memory has been asked for since the process began.
  let allocations: UInt64

  static var now: Memory {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    let pages = fields.count > 1 ? Int(fields[1]) ?? 0 : 0
    return Memory(
      resident: pages * Int(getpagesize()), allocated: malloc_counter_bytes(), allocations: malloc_counter_count())
  }

  /// What each of so many has added since: bytes that are resident, bytes that are handed out, allocations.
  func growth(since before: Memory, each count: Int) -> [Double] {
    [
      Double(resident - before.resident), Double(allocated) - Double(before.allocated),
      Double(allocations) - Double(before.allocations),
    ].map { $0 / Double(count) }
  }
}
