#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How values are written in a query or a form.
public struct QueryStyle: Sendable {
  /// How an array is written.
  public enum Arrays: Sendable, Hashable {
    /// `tag=a&tag=b`
    case repeated
    /// `tag[]=a&tag[]=b`
    case brackets
    /// `tag[0]=a&tag[1]=b`
    case indexed
    /// `tag=a,b`: the separator is percent-encoded with its values.
    case joined(String)
  }

  /// How the keys of nested values are written.
  public enum Nesting: Sendable, Hashable {
    /// `filter[year]=1990`
    case brackets
    /// `filter.year=1990`
    case dots
  }

  /// How a boolean is written.
  public enum Bools: Sendable, Hashable {
    /// `true` and `false`
    case words
    /// `1` and `0`
    case digits
  }

  /// How a date is written.
  public enum Dates: Sendable {
    /// `2026-11-21T09:30:00Z`
    case iso8601
    /// Seconds since 1970, with a fraction where there is one.
    case secondsSince1970
    /// Whole milliseconds since 1970.
    case millisecondsSince1970
    /// As the function says.
    case custom(@Sendable (Date) throws -> String)
  }

  /// How a missing value is written.
  public enum Nils: Sendable, Hashable {
    /// Not at all.
    case omitted
    /// `name=`
    case empty
    /// `name=null`
    case null
  }

  /// Arrays. Default: repeated names.
  public var arrays: Arrays
  /// Keys of nested values. Default: brackets.
  public var nesting: Nesting
  /// Booleans. Default: words.
  public var bools: Bools
  /// Dates. Default: ISO 8601.
  public var dates: Dates
  /// Missing values. Default: omitted.
  public var nils: Nils

  /// Makes a style.
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

  /// The style used when nobody chose one.
  public static let standard = QueryStyle()
}
