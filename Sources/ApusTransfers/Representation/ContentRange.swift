/// The field `Content-Range` of a response (RFC 9110 §14.4).
enum ContentRange: Equatable {
  /// The content is the bytes from `first` to `last`, inclusive, of a file of `total` bytes. `total` is `nil` if
  /// unknown.
  case part(first: Int64, last: Int64, total: Int64?)
  /// The range cannot be satisfied; the file has this many bytes.
  case unsatisfied(total: Int64)

  /// Returns `nil` if the text is malformed or its unit is not bytes.
  init?(_ text: String) {
    let words = text.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
    guard words.count == 2, Substring(words[0]).lowercased() == "bytes" else { return nil }
    let halves = words[1].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let total = Self.number(halves[1])
    if halves[0].elementsEqual("*".utf8) {
      guard let total else { return nil }
      self = .unsatisfied(total: total)
      return
    }
    let ends = halves[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
      last < .max, total != nil || halves[1].elementsEqual("*".utf8), last < total ?? .max
    else { return nil }
    self = .part(first: first, last: last, total: total)
  }

  /// Returns a number that consists of decimal digits only.
  static func number(_ text: Substring.UTF8View) -> Int64? {
    guard !text.isEmpty, text.count <= 19, text.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
      return nil
    }
    return Int64(Substring(text))
  }
}
