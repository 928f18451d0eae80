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

  /// The type to ask for under these coders; `nil`: anything.
  func mediaType(in coding: CodingOptions) -> MediaType? {
    switch self {
    case .anything: nil
    case .type(let type): type
    case .format: coding.format?.mediaType ?? .json
    }
  }
}
