import Apus
import Foundation

/// The domains below which anyone can register names, such as `com` and `co.uk`: the list of publicsuffix.org.
struct PublicSuffixList: Sendable {
  /// The domains that the list names.
  private var suffixes: Set<String> = []
  /// The domains of which each name directly below is a public suffix, as in `*.ck`.
  private var parents: Set<String> = []
  /// The domains that are no public suffixes although their parent is among ``parents``, as in `!www.ck`.
  private var exceptions: Set<String> = []

  /// The number of rules.
  var count: Int { suffixes.count + parents.count + exceptions.count }

  /// Parses the text of a list: a rule on each line; the rest of a line after a blank, and lines that begin with `//`,
  /// are comments.
  init(_ text: Data) {
    for line in text.split(separator: UInt8(ascii: "\n")) {
      var rule = line.prefix { $0 > UInt8(ascii: " ") }
      guard !rule.starts(with: "//".utf8) else { continue }
      let kind = rule.first
      if kind == UInt8(ascii: "!") { rule = rule.dropFirst() }
      if rule.starts(with: "*.".utf8) { rule = rule.dropFirst(2) }
      guard let domain = Self.ascii(rule) else { continue }
      switch kind {
      case UInt8(ascii: "!"): exceptions.insert(domain)
      case UInt8(ascii: "*"): parents.insert(domain)
      default: suffixes.insert(domain)
      }
    }
  }

  /// Returns a domain in lower case and in ASCII; `nil` for an invalid one.
  private static func ascii(_ rule: Data) -> String? {
    let text = String(decoding: rule, as: UTF8.self)
    let isPlain = rule.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
        UInt8(ascii: "."):
        true
      default: false
      }
    }
    if isPlain { return text.isEmpty ? nil : text }
    return (try? BaseURL("https://\(text)"))?.origin?.host
  }

  /// Whether a domain is a public suffix. A top-level domain is one even if the list does not have it.
  ///
  /// - Parameter domain: a domain in lower case and in ASCII.
  func contains(_ domain: String) -> Bool {
    let domain = domain.utf8.last == UInt8(ascii: ".") ? String(domain.dropLast()) : domain
    guard let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) else { return true }
    if suffixes.contains(domain) { return true }
    return parents.contains(String(domain[domain.utf8.index(after: dot)...])) && !exceptions.contains(domain)
  }
}

extension PublicSuffixList {
  /// The files of Linux distributions, in the order of preference.
  static let paths = [
    "/usr/share/publicsuffix/public_suffix_list.dat", "/usr/share/publicsuffix/effective_tld_names.dat",
  ]

  /// The list of the system, read at the first use; `nil` if there is none.
  static let system: PublicSuffixList? = installed(at: paths)

  /// Returns the first list that can be read and is not empty; `nil` if there is none.
  static func installed(at paths: [String]) -> PublicSuffixList? {
    for path in paths {
      guard let text = try? InputFile.contents(path) else { continue }
      let list = PublicSuffixList(text)
      if list.count > 0 { return list }
    }
    return nil
  }

  /// Whether a domain is a public suffix by the list of the system. Without a list only top-level domains are.
  static func isPublicSuffix(_ domain: String) -> Bool {
    system?.contains(domain) ?? !domain.utf8.dropLast().contains(UInt8(ascii: "."))
  }
}
