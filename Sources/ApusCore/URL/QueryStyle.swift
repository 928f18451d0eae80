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
    /// The parameter is omitted.
    case omitted
    /// `name=`
    case empty
    /// `name=null`
    case null
  }

  package let arrays: Arrays
  let nesting: Nesting
  let bools: Bools
  let dates: Dates
  package let nils: Nils

  /// Creates a style.
  ///
  /// - Parameters:
  ///   - arrays: the style of arrays. Default: ``Arrays/repeated``.
  ///   - nesting: the style of the keys of nested values. Default: ``Nesting/brackets``.
  ///   - bools: the style of Booleans. Default: ``Bools/words``.
  ///   - dates: the style of dates. Default: ``Dates/iso8601``.
  ///   - nils: the style of `nil`. Default: ``Nils/omitted``.
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
  package static let `default` = QueryStyle()
}
