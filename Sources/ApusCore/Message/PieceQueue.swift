#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A first-in, first-out queue of content pieces that releases each piece when it is taken.
///
/// Taking a piece takes constant time on average; the queue itself stays as short as what waits in it, however many
/// pieces have passed through and even if it never runs empty.
struct PieceQueue {
  /// The pieces that wait, after `head` empty places.
  private(set) var places: [Data] = []
  private var head = 0
  private(set) var byteCount = 0

  var isEmpty: Bool { head == places.count }

  mutating func append(_ piece: Data) {
    places.append(piece)
    byteCount += piece.count
  }

  mutating func popFirst() -> Data? {
    guard head < places.count else { return nil }
    let piece = places[head]
    places[head] = Data()
    head += 1
    byteCount -= piece.count
    if head == places.count {
      places.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= Self.sparePlaces, head * 2 >= places.count {
      places.removeFirst(head)
      head = 0
    }
    return piece
  }

  mutating func removeAll() {
    self = PieceQueue()
  }

  /// Empty places that are not worth moving the others for.
  private static let sparePlaces = 32
}
