import Apus

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is sent as content, and where it comes from.
enum ContentPlan: Sendable, Hashable {
  case none
  case text(String, MediaType)
  /// Parameters of a form, in order.
  case form([FormParameter])
  /// A file, read while it is sent.
  case file(String, MediaType)
  /// Standard input, read while it is sent.
  case input(MediaType)

  /// One parameter of a form.
  struct FormParameter: Sendable, Hashable {
    var name: String
    var value: String
  }

  /// Reads the value of `--data` or `--json`: `@FILE`, `-` for the input, or the text itself.
  init(_ value: String, text: MediaType, bytes: MediaType) {
    if value == "-" {
      self = .input(bytes)
    } else if let path = value.fileName {
      self = path == "-" ? .input(bytes) : .file(path, bytes)
    } else {
      self = .text(value, text)
    }
  }

  /// As the request takes it.
  ///
  /// - Throws: ``InputError`` for a file that cannot be read.
  func content() throws(InputError) -> RequestContent {
    switch self {
    case .none: return .empty
    case .text(let text, let type): return .text(text, type)
    case .form(let parameters):
      var query = Query()
      for parameter in parameters { query.append(parameter.name, parameter.value) }
      return .form(query)
    case .file(let path, let type):
      return try InputFile.check(path) ? .file(path, type) : .stream(InputPieces.stream(of: path), type)
    case .input(let type): return .stream(InputPieces.standardInput(), type)
    }
  }
}
