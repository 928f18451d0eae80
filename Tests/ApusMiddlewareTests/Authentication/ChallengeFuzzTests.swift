import ApusTesting
import Testing

@testable import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Challenge parser: random input")
struct ChallengeFuzzTests {
  private static let rounds = ProcessInfo.processInfo.environment["APUS_FUZZ"].flatMap { Int($0) } ?? 1000

  private static let seeds = [
    #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
    #"Digest realm="a@b", qop="auth, auth-int", algorithm=SHA-256, nonce="7yp/x+=", opaque="", userhash=true"#,
    "Negotiate YII==, NTLM TlRM, , Bearer", "A b = c , d\t=\t\"e\", F",
  ].map { Array($0.utf8) }

  private static let delimiters = Array("\",= \t\\aB1/~\u{0}\n\u{7F}é".utf8)

  /// Returns random bytes, or a valid line with a few mistakes.
  private func line(_ generator: inout SeededGenerator) -> [UInt8] {
    if Bool.random(using: &generator) {
      return (0..<Int.random(in: 0...200, using: &generator)).map { _ in
        Bool.random(using: &generator)
          ? UInt8.random(in: 0...255, using: &generator) : Self.delimiters.randomElement(using: &generator) ?? 0
      }
    }
    var bytes = Self.seeds.randomElement(using: &generator) ?? []
    for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
      let index = Int.random(in: 0..<bytes.count, using: &generator)
      switch UInt8.random(in: 0...3, using: &generator) {
      case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
      case 1: bytes.remove(at: index)
      case 2: bytes.insert(Self.delimiters.randomElement(using: &generator) ?? 0, at: index)
      default: bytes = Array(bytes.prefix(index))
      }
    }
    return bytes
  }

  private func read(_ lines: [[UInt8]]) -> [Challenge] {
    var parser = ChallengeParser()
    for line in lines {
      guard parser.read(line) else { break }
    }
    return parser.challenges
  }

  /// Returns a challenge in the form in which a server sends it.
  private func written(_ challenge: Challenge) -> [UInt8] {
    let parameters = challenge.parameters.map { "\($0.name)=\"\(escaped($0.value))\"" }
    let rest = challenge.token ?? parameters.joined(separator: ", ")
    return Array("\(challenge.scheme)\(rest.isEmpty ? "" : " ")\(rest)".utf8)
  }

  private func escaped(_ value: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in value.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { scalars.append("\\") }
      scalars.append(scalar)
    }
    return String(scalars)
  }

  @Test("Random bytes are parsed to the end, and the challenges survive a round trip", arguments: 0..<8)
  func bytes(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<Self.rounds {
      let lines = (0..<Int.random(in: 1...3, using: &generator)).map { _ in line(&generator) }
      let challenges = read(lines)
      #expect(challenges.count <= ChallengeParser.maximumChallenges)
      for challenge in challenges {
        #expect(!challenge.scheme.isEmpty && (challenge.token == nil || challenge.parameters.isEmpty))
        #expect(challenge.token?.isEmpty != true && challenge.parameters.allSatisfy { !$0.name.isEmpty })
      }
      #expect(read(challenges.map(written)) == challenges)
      #expect(read([Array(challenges.map(written).joined(separator: ", ".utf8))]) == challenges)
    }
  }

  @Test("Long input is read only up to the limits", arguments: 100..<104)
  func floods(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<max(1, Self.rounds / 100) {
      let piece = line(&generator)
      let count = (20 << 10) / max(1, piece.count)
      let flood = Array(repeatElement(piece, count: count).joined())
      for lines in [
        [flood], [Array(flood.prefix(ChallengeParser.maximumBytes))], Array(repeating: piece, count: count),
      ] {
        let challenges = read(lines)
        #expect(challenges.count <= ChallengeParser.maximumChallenges)
        #expect(challenges.allSatisfy { $0.parameters.count <= ChallengeParser.maximumParameters })
      }
    }
  }
}
