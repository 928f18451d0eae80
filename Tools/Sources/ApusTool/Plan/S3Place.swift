/// The location of an object on the command line: `s3://BUCKET/KEY`.
struct S3Place: Sendable, Hashable {
  let bucket: String
  /// The text after the first slash, unchanged; may be empty.
  let key: String

  /// Whether a word of the command line is such a location.
  static func isNamed(by word: String) -> Bool { word.utf8.starts(with: "s3://".utf8) }

  /// - Throws: ``PlanError`` if the bucket is missing.
  init(_ word: String) throws(PlanError) {
    let rest = word.utf8.dropFirst("s3://".utf8.count)
    let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
    bucket = String(Substring(rest[..<end]))
    key = String(Substring(rest[end...].dropFirst()))
    guard Self.isNamed(by: word), !bucket.isEmpty else { throw PlanError("A place in S3 is s3://BUCKET/KEY.") }
  }

  /// Returns the location of a file: if the key is empty or ends with a slash, the file's name is appended.
  func completed(by file: String) -> S3Place {
    guard key.isEmpty || key.hasSuffix("/") else { return self }
    return S3Place(bucket: bucket, key: key + (file.split(separator: "/").last.map(String.init) ?? ""))
  }

  private init(bucket: String, key: String) {
    (self.bucket, self.key) = (bucket, key)
  }

  /// The last segment of the key, as a file name; `nil` if it is not a valid name, or would be hidden or interpreted as
  /// an option.
  var fileName: String? {
    let name = key.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
    let isUnsafe = name.utf8.first.map { ".-".utf8.contains($0) } ?? true
    return isUnsafe || name.unicodeScalars.contains { $0.value < 0x20 } ? nil : name
  }
}
