import Apus

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The source of a request's content (body).
enum ContentPlan: Sendable, Hashable {
  case none
  case text(String, MediaType)
  /// The parameters of a form, in order.
  case form([FormParameter])
  /// The parts of multipart content, in order.
  case multipart([PartPlan])
  /// A file, streamed.
  case file(String, MediaType)
  /// Standard input, streamed.
  case input(MediaType)

  /// A parameter of a form.
  struct FormParameter: Sendable, Hashable {
    var name: String
    var value: String
  }

  /// Parses the value of `--data` or `--json`: `@FILE`, `-` for standard input, or a text.
  init(_ value: String, text: MediaType, bytes: MediaType) {
    if value == "-" {
      self = .input(bytes)
    } else if let path = value.fileName {
      self = path == "-" ? .input(bytes) : .file(path, bytes)
    } else {
      self = .text(value, text)
    }
  }

  /// Returns the request's content.
  ///
  /// - Throws: ``InputError`` for an unreadable file.
  func content() throws(InputError) -> RequestContent {
    switch self {
    case .none: return .empty
    case .text(let text, let type): return .text(text, type)
    case .form(let parameters):
      var query = Query()
      for parameter in parameters { query.append(parameter.name, parameter.value) }
      return .form(query)
    case .multipart(let parts):
      var content: [MultipartPart] = []
      for part in parts { content.append(try part.part()) }
      return .multipart(content)
    case .file(let path, let type):
      return try InputFile.check(path) ? .file(path, type) : .stream(InputPieces.stream(of: path), type)
    case .input(let type): return .stream(InputPieces.standardInput(), type)
    }
  }
}
