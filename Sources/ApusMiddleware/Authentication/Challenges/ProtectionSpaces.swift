import ApusCore
import Synchronization

/// The challenges that servers have sent, by protection space, so that the next message answers them in advance (RFC
/// 7617 §2.2, RFC 7616 §3.6).
///
/// A space is a folder of a server with everything below it. Beyond 64 spaces the oldest is dropped; its next message
/// then costs an additional exchange.
final class ProtectionSpaces: Sendable {
  private struct Space {
    let origin: Origin
    let folder: String
    var challenge: Challenge
  }

  private static let limit = 64

  private let spaces = Mutex<[Space]>([])
  /// Whether there are no spaces, readable without the lock: most authentications never get a challenge.
  private let isEmpty = Atomic(true)

  /// The challenge of the innermost known folder for a message, and the folder's depth.
  func challenge(for request: RequestMessage) -> (challenge: Challenge, depth: Int)? {
    guard !isEmpty.load(ordering: .acquiring), let origin = request.origin else { return nil }
    let path = Self.path(of: request.target)
    return spaces.withLock { spaces in
      spaces.filter { $0.origin == origin && path.utf8.starts(with: $0.folder.utf8) }
        .max { $0.folder.utf8.count < $1.folder.utf8.count }
        .map { ($0.challenge, $0.folder.utf8.count) }
    }
  }

  /// Stores a challenge.
  ///
  /// - Parameter isWhole: whether it applies to the whole server, not only to the folder of the message.
  func learn(_ challenge: Challenge, from request: RequestMessage, isWhole: Bool) {
    guard let origin = request.origin else { return }
    let folder = isWhole ? "/" : Self.folder(of: Self.path(of: request.target))
    isEmpty.store(false, ordering: .releasing)
    spaces.withLock { spaces in
      if let index = spaces.firstIndex(where: { $0.origin == origin && $0.folder == folder }) {
        spaces[index].challenge = challenge
        return
      }
      if spaces.count == Self.limit { spaces.removeFirst() }
      spaces.append(Space(origin: origin, folder: folder, challenge: challenge))
    }
  }

  /// Discards all challenges: those for one account may not apply to the next.
  func forget() {
    spaces.withLock { $0 = [] }
  }

  private static func path(of target: String) -> Substring {
    Substring(target.utf8.prefix { $0 != UInt8(ascii: "?") })
  }

  private static func folder(of path: Substring) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "/" }
    return String(path[...slash])
  }
}
