/// A query decoder written independently of the library's code.
enum QueryDecoding {
  /// The names and values in a request target or in form content.
  static func pairs(of text: String) -> [[String]] {
    let query = text.utf8.firstIndex(of: UInt8(ascii: "?")).map { text[text.utf8.index(after: $0)...] } ?? text[...]
    guard !query.isEmpty else { return [] }
    return query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { item in
      let equals = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
      let value = equals < item.endIndex ? item[item.index(after: equals)...] : item[item.endIndex...]
      return [decoded(Array(item[..<equals])), decoded(Array(value))]
    }
  }

  static func decoded(_ bytes: [UInt8]) -> String {
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let byte = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16)
      {
        result.append(byte)
        index += 3
      } else {
        result.append(bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
