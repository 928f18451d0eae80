/// Takes apart the `Set-Cookie` lines that the platform has joined by commas.
///
/// They are the one kind of line that must not be joined (RFC 9110 §5.3): the dates in them hold commas too.
/// A comma that is followed by a token and an equals sign begins the next line; that of a date is followed by
/// a day without one.
enum SetCookieLine {
  static func split(_ joined: String) -> [String] {
    // Bytes: a mark that combines with a comma makes another Character of it, and hides it.
    let bytes = Array(joined.utf8)
    var lines: [String] = []
    var start = 0
    for comma in bytes.indices where bytes[comma] == UInt8(ascii: ",") {
      let next = bytes[(comma + 1)...].drop { $0 == UInt8(ascii: " ") }
      guard beginsWithName(next) else { continue }
      lines.append(String(decoding: bytes[start..<comma], as: UTF8.self))
      start = next.startIndex
    }
    lines.append(String(decoding: bytes[start...], as: UTF8.self))
    return lines
  }

  private static func beginsWithName(_ text: ArraySlice<UInt8>) -> Bool {
    let end = text.firstIndex { "= ;,\"".utf8.contains($0) } ?? text.endIndex
    return end > text.startIndex && end < text.endIndex && text[end] == UInt8(ascii: "=")
  }
}
