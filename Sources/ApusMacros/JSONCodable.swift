#if Macros
@_exported public import ApusJSON

/// Adds conformances to `JSONReadable` and `JSONWritable` to a struct or an enum.
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
/// The expansion reads and writes the same JSON as `Codable`, with one addition: a property with a default value gets
/// that value if its member is missing.
///
/// - *Structs.* Every stored property needs a type, unless its default value is a literal. An optional property is
///   `nil` for a missing member and for `null`, and is not written if it is `nil`. A constant with a value is only
///   written.
/// - *Names.* An enum `CodingKeys` inside the type renames members; a property without a case is omitted and needs a
///   default value. The macro does not support coding keys that are declared in an extension.
/// - *Enums* with raw values are read and written as raw values, other enums as objects with one member, named after
///   the case: `{"circle":{"radius":1}}`.
/// - *Generic types* conform if their type parameters do.
///
/// Properties of types that only conform to `Codable` are decoded and encoded.
@attached(
  extension, conformances: JSONReadable, JSONWritable, names: named(init(from:)), named(write(to:)))
public macro JSONCodable() = #externalMacro(module: "ApusMacrosPlugin", type: "JSONCodableMacro")
#endif
