import ApusJSON

/// A reader of the message, code and field errors of a rejection, which servers send under many names. It reads a
/// bounded number of levels, members and elements, so that it takes no longer than parsing the content.
struct RejectionReader {
  private(set) var message: String?
  private(set) var code: String?
  private(set) var fields: [Rejection.FieldError] = []

  private let status: String
  /// A code that repeats the status. Used only if there is no other code.
  private var weakCode: String?

  init(_ json: JSONValue, status: Int) {
    self.status = String(status)
    // Some servers send a bare list of errors.
    let json = json.array == nil ? json : JSONValue.object(["errors": json])
    guard json.object != nil else { return }
    var found = FieldErrorReader()
    if (400..<500).contains(status), found.readBare(json) {
      (fields, message) = (found.fields, found.general)
    } else {
      found.read(json)
      fields = found.fields
      message = message(in: json, levels: 8) ?? found.general
      code = code(in: json, levels: 8) ?? weakCode
    }
    if message == nil, let first = fields.first, let text = first.message {
      message = ServerText.message("\(first.path): \(text)")
    }
  }

  /// The names under which servers send sentences.
  static let sentences = [
    "detail", "message", "Message", "error_description", "error_message", "errorMessage", "status_message", "msg",
    "title",
  ]

  /// Returns the sentence under one of the names that servers use.
  private func message(in json: JSONValue, levels: Int) -> String? {
    guard levels > 0 else { return nil }
    if let text = Self.sentence(in: json) { return text }
    for name in ["error", "detail"] {
      if let nested = json[name], nested.object != nil, let text = message(in: nested, levels: levels - 1) {
        return text
      }
    }
    guard let first = json["errors"]?[0], FieldErrorReader.path(of: first) == nil else { return nil }
    return first.string.flatMap { Self.isSentence($0) ? ServerText.message($0) : nil }
      ?? message(in: first, levels: levels - 1)
  }

  /// Returns the sentence among the direct members of an object.
  static func sentence(in json: JSONValue, or others: [String] = []) -> String? {
    for name in sentences + others {
      if let text = text(json[name]), isSentence(text), let sentence = ServerText.message(text) { return sentence }
    }
    for name in ["error", "reason"] {
      if let text = text(json[name]), !ServerText.isCode(text, orWord: true), let sentence = ServerText.message(text) {
        return sentence
      }
    }
    return nil
  }

  private static func isSentence(_ text: String) -> Bool { !ServerText.isCode(text) }

  /// Returns a string, or the first string of a list, because some servers send several sentences.
  private static func text(_ json: JSONValue?) -> String? { json?.string ?? json?[0]?.string }

  /// Returns the code under one of the names that servers use.
  private mutating func code(in json: JSONValue, levels: Int) -> String? {
    guard levels > 0, json.object != nil else { return nil }
    for name in ["code", "error_code", "errorCode", "ErrorCode", "Code", "errcode", "status_code"] {
      guard let code = Self.code(json[name]) else { continue }
      if code != status { return code }
      weakCode = weakCode ?? code
    }
    if let code = Self.code(amongWordsOf: json) { return code }
    for nested in [json["error"], json["detail"], json["extensions"], json["errors"]?[0]] {
      if let nested, let code = code(in: nested, levels: levels - 1) { return code }
    }
    return nil
  }

  /// Returns a code under a name that other servers use for sentences.
  private static func code(amongWordsOf json: JSONValue) -> String? {
    if let error = json["error"]?.string, json["error_description"] != nil || ServerText.isCode(error, orWord: true) {
      return ServerText.code(error)
    }
    // Amazon: the code follows the namespace.
    if let type = json["__type"]?.string?.unicodeScalars.split(separator: "#").last {
      return ServerText.code(String(String.UnicodeScalarView(type)))
    }
    if let status = json["status"]?.string, ServerText.isCode(status),
      status.utf8.allSatisfy({ $0 < UInt8(ascii: "a") })
    {
      return status
    }
    for name in ["message", "msg", "detail", "reason", "type"] {
      if let text = json[name]?.string, ServerText.isCode(text) { return text }
    }
    return nil
  }

  /// Returns a code that is a string or a number.
  static func code(_ json: JSONValue?) -> String? {
    if let text = json?.string { return ServerText.code(text) }
    guard let number = json?.number else { return nil }
    return number.int.map { String($0) } ?? ServerText.code(number.description)
  }
}
