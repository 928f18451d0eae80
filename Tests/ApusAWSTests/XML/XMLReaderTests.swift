import ApusTesting
import Foundation
import TestSupport
import Testing

@testable import ApusAWS

@Suite("XML")
struct XMLReaderTests {
  private func read(_ text: String, _ limits: XMLReader.Limits = XMLReader.Limits()) throws(XMLFailure) -> XMLTree {
    try XMLReader.read(Data(text.utf8), limits)
  }

  @Test("A document's elements are read by name, without prefixes, attributes, comments and instructions")
  func document() throws {
    let tree = try read(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!-- a list -->
      <a:List xmlns:a="http://example.com/" kind='x > y'>
        <a:Item id="1">one</a:Item><a:Item/><a:Item ></a:Item >
        <Empty
          />
      </a:List><?end?>

      """)
    #expect(tree.name == "List")
    #expect(tree.all("Item").map(\.text) == ["one", "", ""])
    #expect(tree["Empty"] == XMLTree("Empty"))
    #expect(tree.text(of: "Missing") == nil)
  }

  @Test(
    "References, CDATA sections and line ends are converted to text",
    arguments: [
      ("a&amp;b&lt;&gt;&quot;&apos;", "a&b<>\"'"), ("&#65;&#x1F600;&#xA;", "A😀\n"), ("<![CDATA[<&amp;]]>", "<&amp;"),
      ("one\r\ntwo\rthree", "one\ntwo\nthree"), ("a<!-- no -->b<?no?>c", "abc"), (" äö ", " äö "), ("]]&gt;", "]]>"),
    ])
  func text(source: String, text: String) throws {
    #expect(try read("<a>\(source)</a>").text == text)
  }

  @Test("White space may precede the declaration, as in responses that a service delays")
  func leadingSpace() throws {
    #expect(try read("\n  \n<?xml version=\"1.0\"?>\n<a/>").name == "a")
    #expect(try read("\u{FEFF}<a/>").name == "a")
  }

  @Test(
    "Malformed documents are errors",
    arguments: [
      "", " ", "a", "<", "<a", "<a>", "<a>text", "</a>", "<a></b>", "<a/><b/>", "<a/>x", "x<a/>", "<a b></a>",
      "<a b=c></a>", "<a b=\"<\"/>", "<a b=\"1></a>", "<a b=\"1\"c=\"2\"/>", "<1/>", "<-a/>", "< a/>", "<a>&nbsp;</a>",
      "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#x110000;</a>", "<a>&#+65;</a>", "<a>&amp</a>", "<a>&</a>", "<!-- <a/>",
      "<?xml <a/>", "<a><![CDATA[</a>", "<![CDATA[x]]><a/>", "&amp;<a/>", "<a/>&amp;", "<a>&#;</a>", "<a>&#x;</a>",
      "<a/",
    ])
  func malformed(text: String) {
    #expect(throws: XMLFailure.self) { try read(text) }
  }

  @Test("A document type declaration is an error, so that no entity can be defined or loaded")
  func documentType() {
    let bomb = """
      <!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;&b;"><!ENTITY d SYSTEM "file:///etc/passwd">]><a>&c;&d;</a>
      """
    #expect(throws: XMLFailure.documentType) { try read(bomb) }
    #expect(throws: XMLFailure.documentType) { try read("<a><!ELEMENT b></a>") }
  }

  @Test("The number of bytes, the depth and the number of elements are limited")
  func limits() throws {
    let limits = XMLReader.Limits(bytes: 100, depth: 3, elements: 4)
    #expect(try read("<a><b><c/></b><d/></a>", limits).children.count == 2)
    #expect(throws: XMLFailure.tooLarge) { try read("<a><b><c><d/></c></b></a>", limits) }
    #expect(throws: XMLFailure.tooLarge) { try read("<a><b/><b/><b/><b/></a>", limits) }
    #expect(throws: XMLFailure.tooLarge) { try read("<a>" + String(repeating: "x", count: 100) + "</a>", limits) }
    let deep = String(repeating: "<a>", count: 200_000)
    #expect(throws: XMLFailure.tooLarge) { try read(deep) }
  }

  @Test("Invalid UTF-8 is an error")
  func encoding() {
    #expect(throws: XMLFailure.notUTF8) { try XMLReader.read(Data([0x3C, 0x61, 0x3E, 0xFF, 0x3C, 0x2F, 0x61, 0x3E])) }
  }

  @Test(
    "A written document is read again with the same text, whatever the text contains",
    arguments: ["a&b", "<>\"'", "\r\n\t ", "ä😀", "]]>"])
  func written(text: String) throws {
    let tree = XMLTree("List", children: [XMLTree("Key", text: text), XMLTree("Key", text: "")])
    #expect(try XMLReader.read(XMLWriter.document(tree, namespace: "http://example.com/?a&b")) == tree)
  }

  @Test("Text with characters that XML does not permit is detected")
  func writable() {
    #expect(XMLWriter.canWrite("a\n\t\r ä😀\u{FFFD}"))
    for scalar in ["\u{0}", "\u{1}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"] { #expect(!XMLWriter.canWrite("a\(scalar)")) }
  }

  @Test("Fuzzed documents result in a tree or an error", arguments: 0..<4 as Range<UInt64>)
  func fuzzed(seed: UInt64) {
    let source = Array(
      """
      <?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Contents><Key>a&amp;b&#x41;\
      </Key><![CDATA[x]]><Size>12</Size></Contents><!-- c --><IsTruncated>false</IsTruncated></ListBucketResult>
      """.utf8)
    let parts = Array("<>/&;#x!-[]?='\" \r\n\u{0}a:".utf8) + [0xC3, 0xFF]
    var random = SeededGenerator(seed: seed)
    for _ in 0..<fuzzRounds(usually: 3000) {
      var bytes = source
      for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[index] = parts.randomElement(using: &random) ?? 0
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(parts.randomElement(using: &random) ?? 0, at: index)
        default: bytes = Array(bytes.prefix(index + 1))
        }
      }
      if let tree = try? XMLReader.read(Data(bytes)) { #expect(!tree.name.isEmpty) }
    }
  }
}
