import ApusJSON

/// A reader of field errors, in lists of objects that name a field, and in objects whose keys are fields.
struct FieldErrorReader {
  private(set) var fields: [Rejection.FieldError] = []
  /// A sentence among the field errors that concerns the whole request.
  private(set) var general: String?

  /// The maximum number of errors, and of members of an object. No form has more fields.
  private static let limit = 100
  private static let levels = 4

  /// Reads an object that consists only of fields with lists of sentences, the format of Django REST framework.
  ///
  /// - Returns: whether the object has this format.
  mutating func readBare(_ json: JSONValue) -> Bool {
    guard let members = json.object, Self.isBare(members, levels: Self.levels),
      !members.keys.allSatisfy({ Self.lists.contains($0) || ["message", "Message", "msg"].contains($0) })
    else { return false }
    readMembers(of: json, at: [], levels: Self.levels)
    return true
  }

  private static func isBare(_ members: [String: JSONValue], levels: Int) -> Bool {
    guard levels > 0, !members.isEmpty, members.count <= limit else { return false }
    return members.values.allSatisfy { value in
      if let list = value.array { return !list.isEmpty && list.prefix(limit).allSatisfy { $0.string != nil } }
      return value.object.map { isBare($0, levels: levels - 1) } ?? false
    }
  }

  /// The keys under which servers send field errors.
  private static let lists = [
    "errors", "error", "detail", "details", "violations", "issues", "invalid-params", "invalid_params", "fieldErrors",
    "field_errors", "validationErrors", "validation_errors", "fieldViolations", "fields", "data",
  ]
  /// The keys under which servers send only field errors, so that a plain string under such a key is a sentence.
  private static let certain: Set = ["errors", "fieldErrors", "field_errors", "validationErrors", "validation_errors"]

  /// Reads a rejection's object.
  mutating func read(_ json: JSONValue, levels: Int = levels) {
    guard levels > 0 else { return }
    // Stripe: the error itself names its field.
    if let path = json["param"]?.string.flatMap({ Self.joined([$0]) }) { add(path, json) }
    for name in Self.lists {
      guard let value = json[name], fields.isEmpty else { continue }
      if let entries = value.array {
        for entry in entries.prefix(Self.limit) {
          if let path = Self.path(of: entry) { add(path, entry) } else { read(entry, levels: levels - 1) }
        }
      } else if let members = value.object {
        if Self.areFields(members, isCertain: Self.certain.contains(name)) {
          readMembers(of: value, at: [], levels: Self.levels)
        } else {
          read(value, levels: levels - 1)
        }
      }
    }
  }

  private static func areFields(_ members: [String: JSONValue], isCertain: Bool) -> Bool {
    guard !members.isEmpty, members.count <= limit else { return false }
    return members.values.allSatisfy { value in
      if value.string != nil { return isCertain }
      if let list = value.array { return list.first.map { $0.string != nil || isError($0) } ?? false }
      return isError(value) || isCertain && value.object != nil
    }
  }

  /// Whether an object describes an error.
  private static func isError(_ json: JSONValue) -> Bool {
    json.object != nil
      && (RejectionReader.sentence(in: json, or: ["description"]) != nil || json["code"]?.string != nil)
  }

  /// Reads an object whose keys are fields, ordered by key, since objects have no order.
  private mutating func readMembers(of json: JSONValue, at path: [String], levels: Int) {
    guard levels > 0, let members = json.object, members.count <= Self.limit else { return }
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      // Sentences under these keys are about the whole request.
      let isGeneral = ["non_field_errors", "nonFieldErrors", "__all__", "base", ""].contains(name)
      let path = path + (isGeneral ? [] : [name])
      for entry in (value.array ?? [value]).prefix(Self.limit) {
        if let text = entry.string {
          add(Self.joined(path), message: text)
        } else if Self.isError(entry) {
          if let path = Self.joined(path) { add(path, entry) }
        } else {
          readMembers(of: entry, at: path, levels: levels - 1)
        }
      }
    }
  }

  private mutating func add(_ path: String, _ entry: JSONValue) {
    guard fields.count < Self.limit else { return }
    let message = RejectionReader.sentence(in: entry, or: ["defaultMessage", "description"])
    fields.append(Rejection.FieldError(path: path, message: message, code: Self.code(of: entry)))
  }

  private mutating func add(_ path: String?, message text: String) {
    guard fields.count < Self.limit, let sentence = ServerText.message(text) else { return }
    guard let path else {
      general = general ?? sentence
      return
    }
    let isCode = ServerText.isCode(text)
    fields.append(Rejection.FieldError(path: path, message: isCode ? nil : sentence, code: isCode ? sentence : nil))
  }

  private static func code(of entry: JSONValue) -> String? {
    for name in ["code", "errorCode", "error_code"] {
      if let code = RejectionReader.code(entry[name]) { return code }
    }
    for name in ["type", "rule", "keyword", "error", "reason", "message"] {
      // A type of FastAPI can be a single word.
      if let text = entry[name]?.string, ServerText.isCode(text, orWord: entry["loc"] != nil && name == "type") {
        return text
      }
    }
    return nil
  }

  // MARK: Paths

  /// Returns the path of the field that an error names.
  static func path(of entry: JSONValue) -> String? {
    guard entry.object != nil else { return nil }
    if let location = entry["loc"]?.array {
      let parts = components(location)
      let isPlaced = ["body", "query", "path", "header", "cookie"].contains(parts.first ?? "")
      return joined(isPlaced ? Array(parts.dropFirst()) : parts)
    }
    let names = [
      "field", "param", "propertyPath", "property", "propertyName", "attribute", "name", "target", "pointer", "path",
      "fields",
    ]
    for name in names {
      if let text = entry[name]?.string { return joined(components(text)) }
      if let list = entry[name]?.array { return joined(components(list)) }
    }
    return (entry["source"]?["pointer"] ?? entry["source"]?["parameter"])?.string.flatMap { joined(components($0)) }
  }

  private static func components(_ list: [JSONValue]) -> [String] {
    // Bounded, because a server could send strings that take very long to compare.
    list.prefix(16).compactMap { $0.string ?? $0.number?.int.map { String($0) } }.filter { $0.utf8.count <= 1000 }
  }

  /// Returns the parts of a JSON pointer (RFC 6901), which may be a URI fragment. Any other string is one part.
  private static func components(_ text: String) -> [String] {
    guard text.utf8.count <= 1000, text.hasPrefix("/") || text.hasPrefix("#/") else { return [text] }
    let parts = text.split(separator: "/").map(String.init).drop { $0 == "#" }
    return parts.starts(with: ["data", "attributes"]) ? Array(parts.dropFirst(2)) : Array(parts)
  }

  /// Returns a coding path such as `items[0].name`, or `nil` if it would be empty. Dots in a component separate
  /// names, like the slashes of a pointer.
  private static func joined(_ components: [String]) -> String? {
    var path = ""
    for part in components.flatMap({ $0.utf8.count <= 1000 ? $0.split(separator: ".").map(String.init) : [] }) {
      if !path.isEmpty, !part.isEmpty, part.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
        path += "[\(part)]"
      } else {
        path += path.isEmpty ? part : ".\(part)"
      }
    }
    return ServerText.code(path)
  }
}
