/// Removes one level of percent-encoding. Returns `nil` if the text is malformed or not UTF-8.
func decode(_ text: some StringProtocol) -> String? {
  var bytes: [UInt8] = []
  var rest = Array(text.utf8)[...]
  while let byte = rest.popFirst() {
    guard byte == UInt8(ascii: "%") else {
      bytes.append(byte)
      continue
    }
    guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
    bytes.append(value)
    rest = rest.dropFirst(2)
  }
  return String(validating: bytes, as: UTF8.self)
}

/// Returns the names and values of a form as a server reads them (WHATWG URL §5.1).
func formItems(_ text: String) -> [[String]]? {
  var items: [[String]] = []
  for part in text.split(separator: "&", omittingEmptySubsequences: false) {
    let plain = part.replacing("+", with: " ")
    let sign = plain.firstIndex(of: "=")
    let name = decode(plain[..<(sign ?? plain.endIndex)])
    let value = decode(sign.map { plain[plain.index(after: $0)...] } ?? "")
    guard let name, let value else { return nil }
    items.append([name, value])
  }
  return items
}
