package import HTTPTypes

extension HTTPFields {
  /// The elements of the `Content-Encoding` fields in the order in which the codings were applied (RFC 9110 §8.4), in
  /// lower case.
  package var contentCodings: [String] {
    guard contains(.contentEncoding) else { return [] }
    return self[values: .contentEncoding].flatMap { value in
      value.utf8.split(separator: UInt8(ascii: ",")).compactMap { element in
        let name = Substring(element.trimmed)
        return name.isEmpty ? nil : name.lowercased()
      }
    }
  }
}
