import Foundation
import TestSupport
import Testing

@testable import ApusAWS

@Suite("Config file")
struct ConfigFileTests {
  private func sections(_ text: String) throws -> [String: [String: String]] {
    try ConfigFile(Data(text.utf8)).sections
  }

  @Test("Sections, properties, comments and continuation lines are read")
  func reads() throws {
    let text = """
      # a comment
      [default]
      region = eu-central-1   ; a comment after white space
      aws_access_key_id=AKID#NOT;COMMENT
      EMPTY =
      s3 =
        addressing_style = path
        # a comment in a nested value
        retries = 2

      [ profile  two words ] # a comment
      key = a = b
      [profile "quoted name"]
      [profile two words]
      key = later
      """
    #expect(
      try sections(text) == [
        "default": [
          "region": "eu-central-1", "aws_access_key_id": "AKID#NOT;COMMENT", "empty": "",
          "s3": "\naddressing_style = path\nretries = 2",
        ],
        "profile two words": ["key": "later"], "profile quoted name": [:],
      ])
    #expect(try sections("").isEmpty)
    #expect(try sections("[a]\r\nb = c\r\n") == ["a": ["b": "c"]])
  }

  @Test(
    "A malformed line is an error with its number",
    arguments: [
      ("a = b", 1), ("[a]\n  b", 2), ("[a]\nb", 2), ("[a]\n= b", 2), ("[a", 1), ("[a] b", 1), ("[]", 1),
      ("[\"a]", 1), ("\n\n[a]\n\nb", 5),
    ])
  func refuses(text: String, line: Int) {
    #expect(performing: { try sections(text) }, throws: { ($0 as? ConfigFile.Failure)?.line == line })
  }

  @Test("Text that is not UTF-8 is an error")
  func encoding() {
    #expect(throws: ConfigFile.Failure.self) { try ConfigFile(Data([0x5B, 0xFF, 0x5D])) }
  }

  @Test("Fuzz: any text results in sections or an error")
  func fuzz() {
    var generator = SystemRandomNumberGenerator()
    let alphabet = Array("[]=#;\"'\\ \t\n\rab".utf8)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0..<60, using: &generator)).map { _ in alphabet.randomElement() ?? 0x20 }
      _ = try? ConfigFile(Data(bytes))
    }
  }

  @Test("A value in the credentials file takes precedence, and a profile may be in either file")
  func precedence() throws {
    let profiles = ConfigProfiles(
      config: try ConfigFile(
        Data(
          "[default]\na = 1\nb = 1\n[profile default]\nb = 2\n[profile c]\nx = 1\n[d]\nx = 1\n[sso-session s]\ny = 1"
            .utf8)),
      credentials: try ConfigFile(Data("[default]\na = 3\n[e]\nx = 2".utf8)))
    #expect(profiles.profile("default") == ["a": "3", "b": "2"])
    #expect(profiles.profile("c") == ["x": "1"] && profiles.profile("d") == nil && profiles.profile("e") == ["x": "2"])
    #expect(profiles.session("s") == ["y": "1"])
  }

  @Test("Descriptions contain the names of sections, but no values")
  func secrets() throws {
    let file = try ConfigFile(Data("[default]\naws_secret_access_key = sentinel-secret".utf8))
    #expect(!texts(of: file).contains("sentinel-secret"))
  }
}

@Suite("Command words")
struct CommandWordsTests {
  @Test(
    "A command line is separated into words as in a shell, without any other interpretation",
    arguments: [
      ("", []), ("  a\tb  ", ["a", "b"]), (#"/x/y "a b" 'c "d'"#, ["/x/y", "a b", #"c "d"#]),
      (#"a\ b \"c\""#, ["a b", "\"c\""]), (#""a\"b\\c\d""#, [#"a"b\c\d"#]), ("a''b '' \"\"", ["ab", "", ""]),
      ("$HOME;`x`|y>z", ["$HOME;`x`|y>z"]),
    ] as [(String, [String])])
  func words(line: String, expected: [String]) {
    #expect(CommandWords.split(line) == expected)
  }

  @Test("An unclosed quotation mark or a backslash at the end is an error", arguments: ["'a", "\"a", "a\\", "\"a\\\""])
  func open(line: String) {
    #expect(CommandWords.split(line) == nil)
  }
}
