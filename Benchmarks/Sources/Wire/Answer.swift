/// An answer of the server.
enum Answer: String, CaseIterable {
  case object = "object, 152 B"
  case page = "array of 100 objects, 16 KB"
  case large = "array of 6,500 objects, 1 MB"

  /// The length of the array; `nil` for the object.
  var count: Int? {
    switch self {
    case .object: nil
    case .page: 100
    case .large: 6500
    }
  }

  /// Returns the number of calls in a round.
  func calls(inFlight: Int) -> Int {
    switch self {
    case .object: 1600
    case .page: 320
    case .large: max(16, inFlight)
    }
  }

  /// Returns the answer with the name of its case.
  static func named(_ name: String) -> Answer? { allCases.first { "\($0)" == name } }
}
