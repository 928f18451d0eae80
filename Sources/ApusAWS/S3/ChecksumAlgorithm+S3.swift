import HTTPTypes

extension ChecksumAlgorithm {
  /// The name of the element in documents.
  var elementName: String { "Checksum\(rawValue)" }

  /// Whether the checksum of an object that was uploaded in parts covers the whole object, not the checksums of its
  /// parts.
  var coversParts: Bool { self == .crc64nvme }

  /// Returns the checksum of a complete object in the fields of a response. Returns `nil` if no stated checksum can be
  /// compared: the checksum of an object that was uploaded in parts may be a checksum of checksums.
  static func stated(in fields: HTTPFields) -> (algorithm: ChecksumAlgorithm, value: String)? {
    if let type = HTTPField.Name("x-amz-checksum-type"), fields[type]?.uppercased() == "COMPOSITE" { return nil }
    for algorithm in allCases {
      guard let name = HTTPField.Name(algorithm.fieldName), let value = fields[name], !value.contains("-") else {
        continue
      }
      return (algorithm, value)
    }
    return nil
  }
}
