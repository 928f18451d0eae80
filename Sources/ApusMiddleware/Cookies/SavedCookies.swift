package import ApusCore

/// The cookies of a jar in the form that outlives the process, with the jar's number.
package struct SavedCookies: Sendable, Hashable, Codable, SelfRedacting {
  // Do not rename the members of both types in the stored form.

  /// A cookie. Name, value and path are bytes in any encoding, stored as text in which each byte is a character
  /// (Latin-1).
  struct Item: Sendable, Hashable, Codable {
    let name: String
    let value: String
    let domain: String
    let isHostOnly: Bool
    let path: String
    let expiry: Int64?
    let isSecure: Bool
    let isHTTPOnly: Bool
    let sameSite: SetCookie.SameSite?
    let creation: UInt64
    let lastAccess: UInt64

    private enum CodingKeys: String, CodingKey {
      case name, value, domain, path, expiry, creation, sameSite
      case isHostOnly = "hostOnly"
      case isSecure = "secure"
      case isHTTPOnly = "httpOnly"
      case lastAccess = "used"
    }
  }

  /// The number of the jar's session, see ``CookieJar/number``.
  package let number: UInt64
  let items: [Item]

  /// Whether there are no cookies.
  package var isEmpty: Bool { items.isEmpty }
  /// The number of cookies.
  package var description: String { "\(items.count) saved cookies" }

  /// Creates the cookies of a new jar: none.
  ///
  /// - Parameter number: the number of the jar's session.
  package init(number: UInt64) {
    self.init(number: number, items: [])
  }

  init(number: UInt64, items: [Item]) {
    (self.number, self.items) = (number, items)
  }
}

extension SavedCookies.Item {
  init(_ cookie: Cookie) {
    self.init(
      name: Self.text(cookie.key.name), value: Self.text(cookie.value), domain: cookie.key.domain,
      isHostOnly: cookie.key.isHostOnly, path: Self.text(cookie.key.path), expiry: cookie.expiry,
      isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly, sameSite: cookie.sameSite,
      creation: cookie.creation, lastAccess: cookie.lastAccess)
  }

  private static func text(_ bytes: [UInt8]) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
    return String(text)
  }

  /// Returns the bytes of a text; `nil` if it has other characters.
  fileprivate static func bytes(_ text: String) -> [UInt8]? {
    let bytes = text.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
    return bytes.count == text.unicodeScalars.count ? bytes : nil
  }
}

extension Cookie {
  /// Restores a cookie. Returns `nil` for a cookie that was not saved by ``SavedCookies/Item/init(_:)``.
  init?(_ item: SavedCookies.Item) {
    guard let name = SavedCookies.Item.bytes(item.name), let value = SavedCookies.Item.bytes(item.value),
      let path = SavedCookies.Item.bytes(item.path), !name.isEmpty
    else { return nil }
    key = Key(name: name, domain: item.domain, isHostOnly: item.isHostOnly, path: path)
    self.value = value
    expiry = item.expiry
    isSecure = item.isSecure
    isHTTPOnly = item.isHTTPOnly
    sameSite = item.sameSite
    creation = item.creation
    lastAccess = item.lastAccess
  }
}

/// A place that keeps the cookies of a ``CookieJar`` beyond the process.
package protocol CookieStorage: Sendable {
  /// Starts to save the present cookies of a jar, and returns immediately.
  ///
  /// The jar calls this after each change. A save that begins later contains all changes until then.
  func save(_ jar: CookieJar)

  /// Waits until all changes so far are saved, or the attempt has failed. Returns early if the task is cancelled.
  func waitUntilSaved() async

  /// The failure of the last save; `nil` if it succeeded.
  var failure: CookieStorageFailure? { get }

  /// The name of the place, for descriptions.
  var name: String { get }
}

/// The reason why cookies could not be saved.
package struct CookieStorageFailure: Sendable {
  /// The error, which contains no cookies.
  package let error: any Error
  /// The error in a trace.
  package let note: TraceNote
  /// The number of the note.
  package let number: Int64

  /// Creates a failure.
  package init(_ error: any Error, _ note: TraceNote, _ number: Int64) {
    (self.error, self.note, self.number) = (error, note, number)
  }
}
