import HTTPTypes

/// The message about content that was written with an unrequested content coding.
enum CodingNote {
  /// Returns the line for standard error; `nil` for content without a coding.
  ///
  /// - Parameters:
  ///   - head: the head of the response. A transport that decodes the content removes the field.
  ///   - isFile: whether the content was written to a file. Default: `true`.
  static func text(for head: HTTPResponse, isFile: Bool = true) -> String? {
    let codings = head.headerFields[values: .contentEncoding].filter { $0.lowercased() != "identity" }
    guard !codings.isEmpty else { return nil }
    let names = codings.joined(separator: ", ")
    let subject = isFile ? "The file was saved" : "The content was written"
    return Complaint(sentence: "\(subject) as the server sent it, with the content coding \(names).").text
  }
}
