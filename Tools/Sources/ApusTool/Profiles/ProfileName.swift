/// The name that a person gives to kept credentials. Names of files are made of it.
struct ProfileName: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The name itself.
  let description: String

  /// - Throws: ``PlanError`` for what is no name.
  init(_ text: String) throws(PlanError) {
    guard Self.isName(text) else {
      let lower = text.lowercased()
      guard lower == text || !Self.isName(lower) else {
        throw PlanError(
          "The name of a profile has no capitals, which not all file systems tell from small letters: write "
            + "“\(lower)”.")
      }
      throw PlanError(
        "The name of a profile is made of 1 to 64 lower case letters, digits, “-”, “_” and “.”, and begins with a "
          + "letter, a digit or “_”.")
    }
    description = text
  }

  static func < (first: ProfileName, second: ProfileName) -> Bool { first.description < second.description }

  private static func isName(_ text: String) -> Bool {
    guard (1...64).contains(text.utf8.count), let first = text.first, first != ".", first != "-" else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
        UInt8(ascii: "_"), UInt8(ascii: "."):
        true
      default: false
      }
    }
  }
}
