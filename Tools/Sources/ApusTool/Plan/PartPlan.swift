import Apus

/// A part of multipart content, written `NAME=TEXT` or `NAME=@FILE[;type=TYPE][;filename=NAME]`.
struct PartPlan: Sendable, Hashable {
  /// The source of the part's content.
  enum Source: Sendable, Hashable {
    case text(String)
    case file(String)
    case input
  }

  var name: String
  var source: Source
  /// The media type; `nil` for the media type of the file's extension.
  var mediaType: String?
  /// The file name that is sent to the server; `nil` for the file's own name.
  var fileName: String?

  /// Parses the values of `--multipart`.
  ///
  /// - Throws: ``PlanError`` for an invalid part, and if several parts read standard input.
  static func all(_ values: [String]) throws(PlanError) -> [PartPlan] {
    var parts: [PartPlan] = []
    for value in values { parts.append(try PartPlan(value)) }
    guard parts.count(where: { $0.source == .input }) <= 1 else {
      throw PlanError("Only one part of --multipart can be standard input.")
    }
    return parts
  }

  /// - Throws: ``PlanError``
  init(_ value: String) throws(PlanError) {
    guard let (name, content) = value.splitAtFirst("="), !name.isEmpty else {
      throw PlanError("--multipart takes name=text or name=@FILE.")
    }
    self.name = name
    guard let description = content.fileName else {
      source = .text(content)
      return
    }
    var words = PartWords(description)
    let path = try words.word()
    guard !path.isEmpty else { throw PlanError("The name of the file is missing in --multipart \(name)=@.") }
    source = path == "-" ? .input : .file(path)
    while let (key, value) = try words.parameter() {
      switch key {
      case "type": mediaType = value
      case "filename": fileName = value
      default: throw PlanError("“\(key)” is neither type nor filename, the parameters of a part in --multipart.")
      }
    }
  }

  /// Returns the part.
  ///
  /// - Throws: ``InputError`` for an unreadable file.
  func part() throws(InputError) -> MultipartPart {
    let type = mediaType.map { MediaType($0) }
    switch source {
    case .text(let text): return .value(name, text)
    case .input: return .part(name, .stream(InputPieces.standardInput(), type ?? .bytes), fileName: fileName ?? "-")
    case .file(let path):
      if try InputFile.check(path) { return .file(name, at: path, fileName: fileName, mediaType: type) }
      let last = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
      let stream = RequestContent.stream(InputPieces.stream(of: path), type ?? MediaType(forFile: path))
      return .part(name, stream, fileName: fileName ?? last)
    }
  }

  /// Returns the part in curl's notation: `NAME=@FILE` with its parameters, or `NAME=TEXT` for a text.
  ///
  /// - Parameter isShown: whether the text or the name of the file is included; otherwise it is masked.
  func curlWords(isShown: Bool) -> [String] {
    switch source {
    case .text(let text): return ["--form-string", "\(name)=\(isShown ? text : Redaction.mask)"]
    case .input, .file:
      var path = "-"
      if case .file(let name) = source { path = name == "-" ? "./-" : name }
      var word = "\(name)=@\(isShown ? PartWords.quoted(path) : Redaction.mask)"
      if let mediaType { word += ";type=\(mediaType)" }
      if let fileName { word += ";filename=\(PartWords.quoted(fileName))" }
      return ["--form", word]
    }
  }
}

/// The words of a part, separated by semicolons. A word in quotation marks may contain semicolons, and a backslash
/// escapes a quotation mark or a backslash, as with curl.
private struct PartWords {
  private static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")
  private static let semicolon = UInt8(ascii: ";")

  private var rest: ArraySlice<UInt8>

  init(_ text: String) {
    rest = Array(text.utf8)[...]
  }

  /// Returns the next word and skips the semicolon after it.
  ///
  /// - Throws: ``PlanError`` for unclosed quotation marks.
  mutating func word() throws(PlanError) -> String {
    guard rest.first == Self.quote else {
      let word = rest.prefix { $0 != Self.semicolon }
      rest = rest.dropFirst(word.count + 1)
      return String(decoding: word, as: UTF8.self)
    }
    rest = rest.dropFirst()
    guard let word = quotedWord(), rest.isEmpty || rest.first == Self.semicolon else {
      throw PlanError("The quotation marks of a part in --multipart are not closed.")
    }
    rest = rest.dropFirst()
    return word
  }

  /// Returns the text up to the closing quotation mark; `nil` if it is missing.
  private mutating func quotedWord() -> String? {
    var word: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == Self.quote { return String(decoding: word, as: UTF8.self) }
      let isEscape = byte == Self.backslash && (rest.first == Self.quote || rest.first == Self.backslash)
      word.append(isEscape ? rest.removeFirst() : byte)
    }
    return nil
  }

  /// Returns the next parameter; `nil` at the end.
  ///
  /// - Throws: ``PlanError``
  mutating func parameter() throws(PlanError) -> (key: String, value: String)? {
    rest = rest.drop { $0 == UInt8(ascii: " ") }
    guard !rest.isEmpty else { return nil }
    let key = String(decoding: rest.prefix { $0 != UInt8(ascii: "=") && $0 != Self.semicolon }, as: UTF8.self)
    rest = rest.dropFirst(key.utf8.count)
    guard rest.popFirst() == UInt8(ascii: "=") else { throw PlanError("“\(key)” has no value in --multipart.") }
    return (key, try word())
  }

  /// Returns a word in the notation of curl and ``PartPlan``.
  static func quoted(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == quote || $0 == semicolon || $0 == UInt8(ascii: ",") }) else { return text }
    var bytes = [quote]
    for byte in text.utf8 {
      if byte == quote || byte == backslash { bytes.append(backslash) }
      bytes.append(byte)
    }
    return String(decoding: bytes + [quote], as: UTF8.self)
  }
}
