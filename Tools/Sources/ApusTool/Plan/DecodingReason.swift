/// Why JSON that people or programs wrote for the tool cannot be used.
enum DecodingReason {
  /// What a decoder's error means, as half a sentence.
  static func of(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "it is not JSON" }
    switch error {
    case .keyNotFound(let key, _): return "\(key.stringValue) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      guard let key = context.codingPath.first else { return "it is not a JSON object that can be used" }
      return "\(key.stringValue) has a value that cannot be used"
    @unknown default: return "it is not JSON"
    }
  }
}
