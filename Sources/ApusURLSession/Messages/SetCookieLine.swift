/// Takes apart the `Set-Cookie` lines that the platform has joined by commas.
///
/// They are the one kind of line that must not be joined (RFC 9110 §5.3): the dates in them hold commas too.
/// A comma that is followed by a token and an equals sign begins the next line; that of a date is followed by
/// a day without one.
enum SetCookieLine {
  static func split(_ joined: String) -> [String] {
    var lines: [String] = []
    var start = joined.startIndex
    var rest = joined[...]
    while let comma = rest.firstIndex(of: ",") {
      rest = joined[joined.index(after: comma)...]
      let next = rest.drop { $0 == " " }
      guard beginsWithName(next) else { continue }
      lines.append(String(joined[start..<comma]))
      start = next.startIndex
    }
    lines.append(String(joined[start...]))
    return lines
  }

  private static func beginsWithName(_ text: Substring) -> Bool {
    let name = text.prefix { $0 != "=" && $0 != " " && $0 != ";" && $0 != "," && $0 != "\"" }
    return !name.isEmpty && text[name.endIndex...].first == "="
  }
}
