import HTTPTypes

/// The message about a file that was saved with a content coding, although the request had refused all of them.
enum CodingNote {
  /// Returns the line for standard error; `nil` for content without a coding.
  ///
  /// - Parameter head: the head of the response. A transport that decodes the content removes the field.
  static func text(for head: HTTPResponse) -> String? {
    let codings = head.headerFields[values: .contentEncoding].filter { $0.lowercased() != "identity" }
    guard !codings.isEmpty else { return nil }
    let names = codings.joined(separator: ", ")
    return Complaint(sentence: "The file was saved as the server sent it, with the content coding \(names).").text
  }
}
