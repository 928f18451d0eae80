import HTTPTypes

extension HTTPField {
  /// Its value as text: UTF-8, or Latin-1 where it is not that, in which every byte is a character.
  var text: String {
    withUnsafeBytesOfValue { bytes in
      String(validating: bytes, as: UTF8.self)
        ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
  }
}
