/// The rules that turn untrusted text into a safe name.
enum SafeName {
  /// The maximum number of bytes of a name. It leaves room for a number and for the suffixes of related files.
  static let limit = 200

  /// Returns a safe name, or `nil` if no usable character is left.
  static func name(in untrusted: String) -> String? {
    let slashes: [Unicode.Scalar] = ["/", "\\"]
    let scalars = untrusted.unicodeScalars
    let last = scalars.lastIndex { slashes.contains($0) }.map { scalars[scalars.index(after: $0)...] } ?? scalars[...]
    var name = String.UnicodeScalarView()
    // Bounds the cost of a long text.
    for scalar in last.prefix(4096) where !isDropped(scalar) { name.append(isReserved(scalar) ? "_" : scalar) }
    var rest = name[...]
    while let first = rest.first, isEdge(first) { rest.removeFirst() }
    while let last = rest.last, isEdge(last) { rest.removeLast() }
    guard !rest.isEmpty else { return nil }
    var text = String(rest)
    if isOption(text) || isDevice(text) || isPartial(text) { text = "_" + text }
    let (stem, suffix) = parts(of: text)
    return shortened(stem, suffix: suffix)
  }

  /// Returns the name without its extension, and the extension with its dot. A long extension is part of the name.
  static func parts(of name: String) -> (stem: String, suffix: String) {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return (name, "") }
    let suffix = name[dot...]
    return suffix.utf8.count <= 20 ? (String(name[..<dot]), String(suffix)) : (name, "")
  }

  /// Returns the stem with a suffix. Shortens the stem if the result would exceed the limit.
  static func shortened(_ stem: String, suffix: String) -> String {
    guard stem.utf8.count + suffix.utf8.count > limit else { return stem + suffix }
    var start = String.UnicodeScalarView()
    var count = suffix.utf8.count
    for scalar in stem.unicodeScalars {
      count += UTF8.width(scalar)
      if count > limit { break }
      start.append(scalar)
    }
    while let last = start.last, isEdge(last) { start.removeLast() }
    return (start.isEmpty ? "_" : String(start)) + suffix
  }

  /// Whether the character is removed. Removed characters are control characters and formatting characters. Some
  /// formatting characters reverse the text and so disguise an extension.
  private static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
    default: false
    }
  }

  private static func isReserved(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case ":", "*", "?", "\"", "<", ">", "|": true
    default: false
    }
  }

  /// Whether the character is removed at both ends of a name. A leading dot hides a file; some systems drop trailing
  /// dots and spaces.
  private static func isEdge(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "." || scalar.properties.isWhitespace
  }

  /// Whether commands would interpret the name as an option.
  private static func isOption(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: "-") }

  /// Whether Windows opens a device for this name, whatever its extension.
  private static func isDevice(_ name: String) -> Bool {
    let base = name.prefix { $0 != "." }.uppercased()
    if ["CON", "PRN", "AUX", "NUL"].contains(base) { return true }
    return base.utf8.count == 4 && ["COM", "LPT"].contains(base.prefix(3))
      && base.utf8.last.map { 48...57 ~= $0 } == true
  }

  /// Whether the name belongs to an incomplete download.
  private static func isPartial(_ name: String) -> Bool {
    name.lowercased().split(separator: ".").contains("apus-part")
  }
}
