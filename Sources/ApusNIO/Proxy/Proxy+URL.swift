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
    public init?(url: String) {
      var rest = Substring(url)
      if let mark = rest.firstRange(of: "://") {
        guard rest[..<mark.lowerBound].lowercased() == "http" else { return nil }
        rest = rest[mark.upperBound...]
      }
      if let end = rest.firstIndex(where: { "/?#".contains($0) }) {
        guard rest[end...] == "/" else { return nil }
        rest = rest[..<end]
      }
      var credentials: Credentials?
      if let mark = rest.lastIndex(of: "@") {
        credentials = Credentials(userInformation: rest[..<mark])
        guard credentials != nil else { return nil }
        rest = rest[rest.index(after: mark)...]
      }
      guard let origin = Origin(scheme: "http", authority: String(rest)) else { return nil }
      self.init(host: origin.host, port: origin.port, credentials: credentials)
    }
  }

  extension NIOTransport.Proxy.Credentials {
    fileprivate init?(userInformation: Substring) {
      let parts = userInformation.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard let user = parts.first.flatMap({ Self.decoded($0) }), !user.contains(":"),
        let password = Self.decoded(parts.count > 1 ? parts[1] : "")
      else { return nil }
      self.init(user: user, password: password)
    }

    /// Text with its percent signs read; `nil` where they announce nothing.
    private static func decoded(_ text: Substring) -> String? {
      var bytes: [UInt8] = []
      var rest = Array(text.utf8)[...]
      while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
          bytes.append(byte)
          continue
        }
        let digits = String(decoding: rest.prefix(2), as: UTF8.self)
        guard digits.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) else {
          return nil
        }
        bytes.append(value)
        rest = rest.dropFirst(2)
      }
      return String(validating: bytes, as: UTF8.self)
    }

    /// What the field `Proxy-Authorization` says (RFC 7617 §2).
    var field: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
  }
#endif
