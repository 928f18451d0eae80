import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension RequestMessage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Method, origin and number of fields: safe for logs.
  public var description: String {
    "\(head.method.rawValue) \(origin.map { "\($0)" } ?? "?") with \(head.headerFields.count) fields"
  }

  /// The same as ``description``.
  public var debugDescription: String { description }

  /// Shows ``description`` alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

  /// The same exchange as a `curl` command line.
  ///
  /// - Parameter redaction: what is shown; `nil` shows everything, secrets included. Content is shown only
  ///   then, since it may hold a password. Default: ``Redaction`` as it comes.
  public func curl(redaction: Redaction? = Redaction()) -> String {
    // With `--request HEAD` curl would wait for content that never comes.
    var words = head.method == .head ? ["curl", "--head"] : ["curl", "--request", Self.quoted(head.method.rawValue)]
    let target = redaction?.target(target) ?? target
    words.append(Self.quoted("\(head.scheme ?? "")://\(head.authority ?? "")\(target)"))
    for field in head.headerFields {
      words += ["--header", Self.quoted("\(field.name): \(redaction?.value(of: field) ?? field.value)")]
    }
    words += contentWords(isShown: redaction == nil)
    return words.joined(separator: " ")
  }

  private func contentWords(isShown: Bool) -> [String] {
    switch content {
    case .empty: []
    case .bytes(let data):
      // Unlike `--data-binary` this never takes content that begins with `@` for the name of a file.
      ["--data-raw", Self.quoted(isShown ? String(decoding: data, as: UTF8.self) : Redaction.mask)]
    case .file(let file): ["--data-binary", Self.quoted("@\(isShown ? file.path : Redaction.mask)")]
    case .stream: ["--data-binary", "@-"]
    }
  }

  private static func quoted(_ text: String) -> String {
    if !text.isEmpty, text.utf8.allSatisfy(ByteSet.unreserved.contains) { return text }
    return "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
