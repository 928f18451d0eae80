import ApusTestServer
import ApusTesting

/// Random faults of the matrix, determined by a seed. They affect about every fourth request and every eighth
/// connection.
enum SoakFaults {
  static func all(seed: UInt64, _ gaps: Set<TransportKind.Gap>) -> [Fault] {
    let faults = Fault.matrix.filter { !gaps.contains(.brokenAnswers) || !$0.breaksHeads }
    let onConnect = faults.filter { $0.trigger == .connect }
    let later = faults.filter { $0.trigger != .connect }
    return onConnect.enumerated().map { index, fault in
      fault.brief { drawn(seed, $0.connection, of: onConnect.count * 8) == index }
    }
      + later.enumerated().map { index, fault in
        fault.brief { occasion in
          guard let request = occasion.request else { return false }
          return drawn(~seed, SoakCall.number(in: request.target), of: later.count * 4) == index
        }
      }
  }

  private static func drawn(_ seed: UInt64, _ number: Int, of count: Int) -> Int {
    var generator = SeededGenerator(seed: seed &* 0x9e37_79b9 &+ UInt64(truncatingIfNeeded: number))
    return Int.random(in: 0..<count, using: &generator)
  }
}

extension Fault {
  /// Whether the fault may truncate a head after a line, or insert arbitrary bytes into a head.
  var breaksHeads: Bool {
    switch effect {
    case .truncate, .garbage, .flood: true
    case .close, .halfClose, .reset, .stall, .throttle: false
    }
  }

  /// Returns the fault for the occasions for which `covers` returns `true`, with a small flood or a short throttle.
  fileprivate func brief(_ covers: @escaping @Sendable (Occasion) -> Bool) -> Fault {
    switch effect {
    case .flood: Fault(at: trigger, .flood(upTo: 96 << 10), on: .matching(covers))
    case .throttle: Fault(at: trigger, .throttle(bytes: 16 << 10), on: .matching(covers))
    default: Fault(at: trigger, effect, on: .matching(covers))
    }
  }
}
