#if NIO
  import ApusCore

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  extension NIOTransport.Proxy {
    /// Reads `http://user:password@host:port`; scheme, credentials and port may be missing, user and password are
    /// percent-decoded. `nil` for anything else, other schemes among them.
    ///
    /// The URL is visible ASCII without a backslash, as RFC 3986 wants it: a name in another alphabet is written in its
    /// ASCII form, and other characters of user and password are percent-encoded. User and password are parted at the
    /// first colon as written; a user whose name holds one once it is decoded is refused (RFC 7617 §2).
    public init?(url: String) {
      // Bytes: a mark that combines with a delimiter makes another Character of it, and hides it.
      var rest = Array(url.utf8)[...]
      guard rest.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else { return nil }
      if let mark = rest.firstRange(of: "://".utf8) {
        guard rest[..<mark.lowerBound].elementsEqual("http".utf8, by: { $0 | 0x20 == $1 }) else { return nil }
        rest = rest[mark.upperBound...]
      }
      if let end = rest.firstIndex(where: { "/?#".utf8.contains($0) }) {
        guard rest[end...].elementsEqual("/".utf8) else { return nil }
        rest = rest[..<end]
      }
      var credentials: Credentials?
      if let mark = rest.lastIndex(of: UInt8(ascii: "@")) {
        credentials = Credentials(userInformation: rest[..<mark])
        guard credentials != nil else { return nil }
        rest = rest[(mark + 1)...]
      }
      guard let origin = Origin(scheme: "http", authority: String(decoding: rest, as: UTF8.self)) else { return nil }
      self.init(host: origin.host, port: origin.port, credentials: credentials)
      guard fault == nil else { return nil }
    }

    /// What is wrong with it, as half a sentence; `nil`: nothing.
    var fault: String? {
      if !Self.isHost(host) { return "needs a host: a name or an address alone, without scheme and port" }
      if !(1...65535).contains(port) { return "needs a port from 1 to 65535" }
      guard let credentials else { return nil }
      if credentials.user.utf8.contains(UInt8(ascii: ":")) { return "the user's name holds a colon" }
      let isClean = [credentials.user, credentials.password].allSatisfy { text in
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
      }
      return isClean ? nil : "user and password hold no control characters"
    }

    /// Letters, digits, hyphens, underscores and dots; or an IPv6 address in brackets.
    private static func isHost(_ host: String) -> Bool {
      if host.utf8.first == UInt8(ascii: "[") { return AddressBytes.of(host) != nil }
      return !host.isEmpty
        && host.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
          default: false
          }
        }
    }
  }

  extension NIOTransport.Proxy.Credentials {
    /// Splits before it decodes: a colon that was encoded belongs to user or password.
    fileprivate init?(userInformation: ArraySlice<UInt8>) {
      let colon = userInformation.firstIndex(of: UInt8(ascii: ":")) ?? userInformation.endIndex
      guard let user = Self.decoded(userInformation[..<colon]),
        let password = Self.decoded(userInformation[colon...].dropFirst())
      else { return nil }
      self.init(user: user, password: password)
    }

    /// Text with its percent signs read; `nil` where they announce nothing, or bytes that are no text.
    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
      var bytes: [UInt8] = []
      var rest = text
      while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
          bytes.append(byte)
          continue
        }
        guard let high = rest.popFirst().flatMap({ hexValue($0) }), let low = rest.popFirst().flatMap({ hexValue($0) })
        else { return nil }
        bytes.append(high << 4 | low)
      }
      return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
      case UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "a")...UInt8(ascii: "f"):
        (byte | 0x20) - UInt8(ascii: "a") + 10
      default: nil
      }
    }

    /// What the field `Proxy-Authorization` says (RFC 7617 §2).
    var field: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
  }
#endif
