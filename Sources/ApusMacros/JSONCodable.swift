#if Macros
@_exported public import ApusJSON

/// Makes a struct or an enum read and write itself: adds the conformances to `JSONReadable` and `JSONWritable`.
///
/// ```swift
/// @JSONCodable
/// struct Film: Codable {
///   var id: Int
///   var title: String
///   var genres: [String] = []
///   var released: Date?
///
///   enum CodingKeys: String, CodingKey {
///     case id, title, genres
///     case released = "releaseDate"
///   }
/// }
/// ```
///
/// The expansion reads and writes the same JSON as `Codable`, with one addition: a member that is missing gets the
/// default value of its property.
///
/// - *Structs.* Every stored property needs a type, unless its default value is a literal. An optional property is `nil`
///   for a missing member and for `null`, and is not written if it is `nil`. A constant with a value is only written.
/// - *Names.* An enum `CodingKeys` inside the type renames members; a property without a case there is left out and
///   needs a default value. The macro does not see coding keys that an extension declares.
/// - *Enums* with raw values are read and written as raw values, others as objects with one member, which has the
///   name of the case: `{"circle":{"radius":1}}`.
/// - *Generic types* conform if their type parameters do.
///
/// Properties of types that only conform to `Codable` are decoded and encoded.
@attached(
  extension, conformances: JSONReadable, JSONWritable, names: named(init(from:)), named(write(to:)))
public macro JSONCodable() = #externalMacro(module: "ApusMacrosPlugin", type: "JSONCodableMacro")
#endif
