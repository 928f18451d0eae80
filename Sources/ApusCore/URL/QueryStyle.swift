#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The style of values in a query or form.
public struct QueryStyle: Sendable {
  /// The style of arrays.
  public enum Arrays: Sendable, Hashable {
    /// `tag=a&tag=b`
    case repeated
    /// `tag[]=a&tag[]=b`
    case brackets
    /// `tag[0]=a&tag[1]=b`
    case indexed
    /// `tag=a,b` with the separator `,`. The separator is percent-encoded like the values.
    case joined(String)
  }

  /// The style of the keys of nested values.
  public enum Nesting: Sendable, Hashable {
    /// `filter[year]=1990`
    case brackets
    /// `filter.year=1990`
    case dots
  }

  /// The style of Booleans.
  public enum Bools: Sendable, Hashable {
    /// `true` and `false`
    case words
    /// `1` and `0`
    case digits
  }

  /// The style of dates.
  public enum Dates: Sendable {
    /// `2026-11-21T09:30:00Z`
    case iso8601
    /// Seconds since 1970, with a fraction if it is not zero.
    case secondsSince1970
    /// Milliseconds since 1970, rounded.
    case millisecondsSince1970
    /// The result of a function.
    case custom(@Sendable (Date) throws -> String)
  }

  /// The style of `nil`.
  public enum Nils: Sendable, Hashable {
    /// The parameter is left out.
    case omitted
    /// `name=`
    case empty
    /// `name=null`
    case null
  }

  /// The style of arrays. Default: ``Arrays/repeated``.
  public var arrays: Arrays
  /// The style of the keys of nested values. Default: ``Nesting/brackets``.
  public var nesting: Nesting
  /// The style of Booleans. Default: ``Bools/words``.
  public var bools: Bools
  /// The style of dates. Default: ``Dates/iso8601``.
  public var dates: Dates
  /// The style of `nil`. Default: ``Nils/omitted``.
  public var nils: Nils

  /// Creates a style.
  public init(
    arrays: Arrays = .repeated, nesting: Nesting = .brackets, bools: Bools = .words, dates: Dates = .iso8601,
    nils: Nils = .omitted
  ) {
    self.arrays = arrays
    self.nesting = nesting
    self.bools = bools
    self.dates = dates
    self.nils = nils
  }

  /// The default style.
  public static let `default` = QueryStyle()
}
