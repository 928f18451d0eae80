import Testing

@Suite("Declarations that @JSONCodable refuses") struct MistakeTests {
  private static let otherTypes =
    "@JSONCodable applies to structs and enums: for other types write the conformances to JSONReadable and "
    + "JSONWritable by hand"

  @Test("@JSONCodable refuses classes, actors and protocols", arguments: ["class", "actor", "protocol"])
  func otherTypes(keyword: String) {
    expectMistake(
      "@JSONCodable\nfinal \(keyword) Film {\n}", Self.otherTypes, at: (2, 7))
  }

  @Test(
    "@JSONCodable refuses a property that cannot be read or written",
    arguments: [
      ("var id = UUID()", "@JSONCodable needs the type of 'id': write 'var id: Type = …'", 7),
      ("var (a, b): (Int, Int)", "@JSONCodable needs a name for each property: declare them separately", 7),
      (
        "@Clamped var id: Int",
        "@JSONCodable does not know how '@Clamped' is represented: leave 'id' out of CodingKeys, or write the "
          + "conformances to JSONReadable and JSONWritable by hand", 3
      ),
    ])
  func properties(property: String, message: String, column: Int) {
    expectMistake(
      "@JSONCodable\nstruct Film {\n  \(property)\n}", message, at: (3, column))
  }

  @Test("@JSONCodable refuses a property or case inside of #if")
  func conditions() {
    expectMistake(
      "@JSONCodable\nstruct Film {\n  #if DEBUG\n  var id: Int\n  #endif\n}",
      "@JSONCodable does not know which branch of '#if' is compiled: move the stored property out of it", at: (4, 3))
    expectMistake(
      "@JSONCodable\nenum Film {\n  case a\n  #if DEBUG\n  case b\n  #endif\n}",
      "@JSONCodable does not know which branch of '#if' is compiled: move the case out of it", at: (4, 3))
  }

  @Test("@JSONCodable refuses coding keys that do not belong to a property")
  func codingKeys() {
    func film(_ keys: String) -> String { "@JSONCodable\nstruct Film {\n  var id: Int\n  \(keys)\n}" }
    expectMistake(
      film("enum CodingKeys: CodingKey {\n    case id, title\n  }"),
      "'title' is the name of no stored property: remove the case or correct its name", at: (5, 14))
    expectMistake(
      film("enum CodingKeys: CodingKey {}"),
      "'id' has no case in CodingKeys: add one, or a default value", at: (3, 7))
    expectMistake(
      film("typealias CodingKeys = Keys"),
      "@JSONCodable reads the cases of CodingKeys: declare it as an enum with a case for each name", at: (4, 3))
  }

  @Test("@JSONCodable refuses a private nested type")
  func privateType() {
    expectMistake(
      "struct Outer {\n  @JSONCodable\n  private struct Film {\n  }\n}",
      "@JSONCodable does not reach a private type inside of another: make it fileprivate", at: (3, 3))
  }

  @Test(
    "@JSONCodable refuses enums without cases, cases without a coding key, and generic parameters that are not types")
  func enumerations() {
    expectMistake(
      "@JSONCodable\nenum Never {\n}",
      "@JSONCodable needs a case to read and write: add one", at: (2, 6))
    expectMistake(
      "@JSONCodable\nenum Shape {\n  case a, b\n  enum CodingKeys: CodingKey {\n    case a\n  }\n}",
      "'b' has no case in CodingKeys: add one", at: (3, 11))
    expectMistake(
      "@JSONCodable\nenum Shape {\n  case a(x: Int)\n  enum ACodingKeys: CodingKey {}\n}",
      "'x' has no case in the coding keys of its case: add one", at: (3, 10))
    expectMistake(
      "@JSONCodable\nstruct Pack<each Part> {\n}",
      "@JSONCodable supports type parameters only: write the conformances to JSONReadable and JSONWritable by hand",
      at: (2, 13))
  }
}
