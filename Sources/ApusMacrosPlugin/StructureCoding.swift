#if Macros
import SwiftSyntax

/// The members that read and write a structure.
struct StructureCoding: TypeCoding {
  private struct Property {
    let value: CodedValue
    let hasDefault: Bool
  }

  private let properties: [Property]

  init(_ structure: StructDeclSyntax) throws {
    let keys = try CodingKeys(in: structure)
    let stored = try structure.memberBlock.members.flatMap { try StoredProperty.properties(in: $0.decl) }
    try keys?.check(against: stored.map(\.name), of: "stored property")
    properties = try stored.compactMap { property in
      let key = keys.map { $0[property.name] } ?? property.name.withoutBackticks
      guard let key else {
        try property.checkIsInitialized()
        return nil
      }
      try property.checkAttributes()
      let isFixed = property.isConstant && property.initialValue != nil
      let type = isFixed ? nil : try property.requiredType
      return Property(
        value: CodedValue(name: property.name, type: type, key: key), hasDefault: property.initialValue != nil)
    }
  }

  private var values: [CodedValue] { properties.map(\.value) }
  var reader: String { "reader".unlike(values.map(\.name)) }
  var writer: String { "writer".unlike(values.map(\.name)) }

  var reading: CodeLines? {
    let assignments = properties.compactMap { property -> String? in
      let value = property.value
      if value.type == nil { return nil }
      if value.isOptional { return "self.\(value.name) = \(value.name)" }
      if property.hasDefault { return "if let \(value.name) { self.\(value.name) = \(value.name) }" }
      return "self.\(value.name) = try \(reader).require(\(value.name), \(value.key.literal))"
    }
    return values.reading(from: reader) + assignments
  }

  var writing: CodeLines? {
    ["\(writer).beginObject()"] + values.writing(to: writer) + ["\(writer).endObject()"]
  }
}
#endif
