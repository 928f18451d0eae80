#if NIO
  import Synchronization

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// Bytes that are handed out piece by piece.
  final class Remaining: Sendable {
    private let rest: Mutex<Data>

    init(_ data: Data) {
      rest = Mutex(data)
    }

    func next(_ count: Int) -> Data? {
      rest.withLock { rest in
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
      }
    }
  }
#endif
