import ApusTesting
import Testing

@testable import ApusCore

@Suite("HTTP dates")
struct HTTPDateTests {
  private static let alphabet = Array("0123456789 :,GMTSunJanx".utf8)

  @Test("The preferred format is read at fixed positions as it is read word by word", arguments: 0..<10)
  func fixedPositions(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var valid = 0
    for _ in 0..<1000 {
      func two(_ range: ClosedRange<Int>) -> String {
        let number = Int.random(in: range, using: &generator)
        return number < 10 ? "0\(number)" : "\(number)"
      }
      let day = ["Mon", "Tue", "Sat", "Xyz"].randomElement(using: &generator) ?? ""
      let month = ["Jan", "Feb", "Jun", "Dec", "dec"].randomElement(using: &generator) ?? ""
      let time = "\(two(0...24)):\(two(0...60)):\(two(0...61))"
      var bytes = Array("\(day), \(two(0...32)) \(month) \(two(0...99))\(two(0...99)) \(time) GMT".utf8)
      if Bool.random(using: &generator) {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        bytes[index] = Self.alphabet.randomElement(using: &generator) ?? 0
      }
      let text = String(decoding: bytes, as: UTF8.self)
      let seconds = HTTPDate.parse(text)
      // Only letters in the usual case are read at fixed positions.
      #expect(seconds == HTTPDate.parse(text.lowercased()), "\(text)")
      valid += seconds == nil ? 0 : 1
    }
    #expect(valid > 50)
  }
}
