/// What `Accept` asks for, before the coders in force are known.
enum AcceptedType: Sendable {
  /// Anything.
  case anything
  /// This type.
  case type(MediaType)
  /// What the format in force reads, JSON when nobody chose one.
  case format

  init(_ type: MediaType?) {
    self = type.map { .type($0) } ?? .anything
  }

  /// Whether an environment that asks for a type of its own, such as a vendor's JSON, may do so here.
  var isOpen: Bool {
    if case .type(let type) = self { return type == .json }
    return true
  }

  /// The type to ask for under these coders; `nil`: anything.
  func mediaType(in coding: CodingOptions) -> MediaType? {
    switch self {
    case .anything: nil
    case .type(let type): type
    case .format: coding.format?.mediaType ?? .json
    }
  }
}
