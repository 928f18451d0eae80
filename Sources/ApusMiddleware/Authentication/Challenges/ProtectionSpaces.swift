import ApusCore
import Synchronization

/// What servers have asked for, and where, so that the next message shows it unasked (RFC 7617 §2.2, RFC 7616 §3.6).
///
/// A space is a part of a server: everything below a folder. There are few; of very many the oldest are forgotten,
/// which costs an exchange.
final class ProtectionSpaces: Sendable {
  private struct Space {
    let origin: Origin
    let folder: String
    var challenge: Challenge
  }

  private static let limit = 64

  private let spaces = Mutex<[Space]>([])
  /// Most authentications are never asked for anything: they need no lock.
  private let isEmpty = Atomic(true)

  /// What was asked for where a message goes: in the innermost folder that is known, and how deep that is.
  func challenge(for request: RequestMessage) -> (challenge: Challenge, depth: Int)? {
    guard !isEmpty.load(ordering: .acquiring), let origin = request.origin else { return nil }
    let path = Self.path(of: request.target)
    return spaces.withLock { spaces in
      spaces.filter { $0.origin == origin && path.utf8.starts(with: $0.folder.utf8) }
        .max { $0.folder.utf8.count < $1.folder.utf8.count }
        .map { ($0.challenge, $0.folder.utf8.count) }
    }
  }

  /// A server asked for something.
  ///
  /// - Parameter isWhole: whether that holds for the whole server, not only for the folder of what was asked for.
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

  /// What was learned with one's credentials need not hold for the next.
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
