import ApusCore

/// Where a `Location` field points: a reference, resolved against the URL of the message that it answers (RFC 9110
/// §10.2.2, RFC 3986 §5).
///
/// What a URL cannot hold but what can only mean one thing is written as a URL has it: spaces, quotation marks, bytes
/// beyond ASCII. What clients read in different ways is refused: control characters, backslashes in the path, a `%` that
/// begins no escape, user information. A fragment is for whoever shows the answer and is not sent; messages have none
/// that could be handed down.
struct LocationReference: Hashable {
  let origin: Origin
  /// Path and query as sent.
  let target: String

  /// Longer ones than this are refused.
  static let longest = 16 << 10

  /// - Throws: ``RedirectRefusal``.
  init(_ bytes: some Collection<UInt8>, at base: Origin, _ baseTarget: String) throws(RedirectRefusal) {
    let text = Array(bytes).trimmed
    guard text.count <= Self.longest else { throw .malformedLocation("its Location is too long") }
    guard !text.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw .malformedLocation("its Location holds a control character")
    }
    // Some transports join what a server sent as several fields.
    guard !text.contains([UInt8(ascii: ","), UInt8(ascii: " ")]) else {
      throw .malformedLocation("it has several Locations")
    }
    var rest = text.prefix { $0 != UInt8(ascii: "#") }
    var origin = base
    let scheme = try Self.takeScheme(from: &rest)
    if rest.starts(with: Self.doubleSlash) {
      origin = try Self.takeOrigin(from: &rest, scheme: scheme ?? base.scheme)
      self.origin = origin
      target = try Self.target(path: rest.path.isEmpty ? Self.slash : rest.path, query: rest.query)
      return
    }
    guard scheme == nil else { throw .malformedLocation("its Location names no host") }
    self.origin = origin
    let current = Array((baseTarget.utf8.first == UInt8(ascii: "/") ? baseTarget : "/").utf8)[...]
    guard !rest.path.isEmpty else {
      target = try Self.target(path: current.path, query: rest.query ?? current.query)
      return
    }
    let isAbsolute = rest.first == UInt8(ascii: "/")
    let folder: ArraySlice<UInt8> = isAbsolute ? [] : current.path.prefix(upToLast: UInt8(ascii: "/"))
    target = try Self.target(path: folder + rest.path, query: rest.query)
  }

  private static let doubleSlash: [UInt8] = [UInt8(ascii: "/"), UInt8(ascii: "/")]
  private static let slash: ArraySlice<UInt8> = [UInt8(ascii: "/")]

  /// Takes `http:` or `https:` off the front; `nil` for a relative reference.
  private static func takeScheme(from rest: inout ArraySlice<UInt8>) throws(RedirectRefusal) -> String? {
    guard let end = rest.firstIndex(where: { "/?:".utf8.contains($0) }), rest[end] == UInt8(ascii: ":") else {
      return nil
    }
    let scheme = String(decoding: rest[..<end], as: UTF8.self).lowercased()
    guard scheme == "http" || scheme == "https" else { throw .otherScheme }
    rest = rest[(end + 1)...]
    return scheme
  }

  /// Takes `//host:port` off the front, strictly: what is not clearly a host is refused.
  private static func takeOrigin(
    from rest: inout ArraySlice<UInt8>, scheme: String
  ) throws(RedirectRefusal) -> Origin {
    let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    rest = rest[authority.endIndex...]
    // A colon without a port says no more than none (RFC 3986 §3.2.3).
    let written = authority.last == UInt8(ascii: ":") ? authority.dropLast() : authority
    guard let text = String(validating: written, as: UTF8.self) else {
      throw .malformedLocation("its Location cannot be used: its host is not text")
    }
    do {
      if let origin = try BaseURL("\(scheme)://\(text)").origin { return origin }
    } catch {
      throw .malformedLocation("its Location cannot be used: \(error.reason)")
    }
    throw .malformedLocation("its Location names no host")
  }

  /// Path and query in their written form.
  private static func target(
    path: ArraySlice<UInt8>, query: ArraySlice<UInt8>?
  ) throws(RedirectRefusal) -> String {
    guard !path.contains(UInt8(ascii: "\\")) else {
      throw .malformedLocation("its Location holds a backslash")
    }
    guard path.hasValidEscapes, query?.hasValidEscapes ?? true else {
      throw .malformedLocation("its Location holds a % that starts no escape")
    }
    let path = ReferencePath.withoutDotSegments(path).escaped(keepingQuestionMarks: false)
    let query = query.map { "?" + $0.escaped(keepingQuestionMarks: true) } ?? ""
    return path + query
  }
}

extension ArraySlice<UInt8> {
  /// What stands before the query.
  fileprivate var path: ArraySlice { prefix { $0 != UInt8(ascii: "?") } }

  /// What stands behind the first question mark; `nil` without one.
  fileprivate var query: ArraySlice? {
    firstIndex(of: UInt8(ascii: "?")).map { self[($0 + 1)...] }
  }

  /// Everything up to and including the last of a byte.
  fileprivate func prefix(upToLast byte: UInt8) -> ArraySlice {
    lastIndex(of: byte).map { self[...$0] } ?? [UInt8(ascii: "/")]
  }
}

extension [UInt8] {
  /// Without spaces and tabs at either end.
  fileprivate var trimmed: ArraySlice<UInt8> {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
      return []
    }
    return self[first...last]
  }
}
