import Foundation
import Testing

@testable import ApusTool

@Suite("The list of public suffixes")
struct PublicSuffixListTests {
  private static let text = """
    // ===BEGIN ICANN DOMAINS===
    com
    uk
    co.uk
    *.ck
    !www.ck
    jp
    kobe.jp
    *.kobe.jp
    !city.kobe.jp   a comment
    公司.cn
    *.مصر

    // ===BEGIN PRIVATE DOMAINS===
    github.io
    not a rule..com
    """
  private let list = PublicSuffixList(Data(Self.text.utf8))

  @Test(
    "Public suffixes are found by exact, wildcard and exception rules, in ASCII, and top-level domains without a rule",
    arguments: [
      ("com", true), ("example.com", false), ("uk", true), ("co.uk", true), ("example.co.uk", false), ("ck", true),
      ("any.ck", true), ("www.ck", false), ("a.any.ck", false), ("kobe.jp", true), ("any.kobe.jp", true),
      ("city.kobe.jp", false), ("a.city.kobe.jp", false), ("xn--55qx5d.cn", true), ("a.xn--55qx5d.cn", false),
      ("any.xn--wgbh1c", true), ("github.io", true), ("io", true), ("unlisted", true), ("a.unlisted", false),
      ("com.", true), ("example.com.", false), ("co.uk.", true), ("localhost", true), ("", true),
    ])
  func contains(domain: String, isSuffix: Bool) {
    #expect(list.contains(domain) == isSuffix)
  }

  @Test("The list of the system is used if there is one, and a file without rules is skipped")
  func installed() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/apus-suffixes-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (empty, whole) = (folder + "/empty", folder + "/whole")
    try Data("// nothing\n".utf8).write(to: URL(filePath: empty))
    try Data(Self.text.utf8).write(to: URL(filePath: whole))
    #expect(PublicSuffixList.installed(at: [folder + "/missing", folder, empty]) == nil)
    #expect(PublicSuffixList.installed(at: [folder + "/missing", empty, whole])?.count == list.count)
  }

  @Test(
    "All rules of the system's list are understood",
    .enabled(if: FileManager.default.isReadableFile(atPath: PublicSuffixList.paths[0]), "there is no list"))
  func system() throws {
    let text = try String(contentsOfFile: PublicSuffixList.paths[0], encoding: .utf8)
    let rules = Set(text.split(separator: "\n").filter { !$0.hasPrefix("//") && !$0.allSatisfy { $0 == " " } })
    let list = try #require(PublicSuffixList.system)
    #expect(list.count == rules.count)
    for domain in ["com", "co.uk", "github.io", "xn--p1ai"] { #expect(PublicSuffixList.isPublicSuffix(domain)) }
    for domain in ["example.com", "example.co.uk", "www.ck"] { #expect(!PublicSuffixList.isPublicSuffix(domain)) }
  }
}
