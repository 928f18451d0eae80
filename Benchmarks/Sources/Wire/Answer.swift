/// An answer of the server.
enum Answer: String, CaseIterable {
  case object = "object, 152 B"
  case page = "array of 100 objects, 15 KB"
  case large = "array of 6,900 objects, 1 MB"

  /// The length of the array; `nil` for the object.
  var count: Int? {
    switch self {
    case .object: nil
    case .page: 100
    case .large: 6900
    }
  }

  /// The number of calls in a round.
  var calls: Int {
    switch self {
    case .object: 3200
    case .page: 640
    case .large: 64
    }
  }

  /// Returns the answer with the name of its case.
  static func named(_ name: String) -> Answer? { allCases.first { "\($0)" == name } }
}
