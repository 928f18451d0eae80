import Apus
import ArgumentParser
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Arguments of the command line")
struct WordsTests {
  @Test(
    "The method is the word before the URL",
    arguments: [
      (["http://h/"], nil, "http://h/"), (["get", "http://h/"], "GET", "http://h/"),
      (["PROPFIND", "h.example"], "PROPFIND", "h.example"),
      (["localhost"], nil, "localhost"), (["localhost", "A:b"], nil, "localhost"), (["intranet"], nil, "intranet"),
      (["intranet", "A:b"], nil, "intranet"), (["put", "intranet", "A:b"], "PUT", "intranet"),
      (["GET", "ada:secret@h.example/x"], "GET", "ada:secret@h.example/x"),
      (["query", "ada:secret@h.example"], "QUERY", "ada:secret@h.example"),
      (["PROPFIND", "ada:secret@h.example"], "PROPFIND", "ada:secret@h.example"),
      (["get"], nil, "get"), (["get", "http://h/", "A:b"], "GET", "http://h/"),
      (["delete", "localhost:80/a"], "DELETE", "localhost:80/a"), (["get", "[::1]:80"], "GET", "[::1]:80"),
    ] as [([String], String?, String)])
  func method(words: [String], method: String?, url: String) throws {
    let words = try Words(words)
    #expect(words.method == method)
    #expect(words.url == url)
  }

  @Test("The first separator determines the kind of an item")
  func items() throws {
    let words = try Words(["h.example", "A: b=c", "name=x:y", "age:=4", "list:=[1, 2]", "Empty:", "quote=\"\n"])
    #expect(
      words.items == [
        .field(name: "A", value: "b=c"), .member(name: "name", json: "\"x:y\""), .member(name: "age", json: "4"),
        .member(name: "list", json: "[1, 2]"), .field(name: "Empty", value: ""),
        .member(name: "quote", json: #""\"\n""#),
      ])
  }

  @Test("A word that is not an item is rejected", arguments: ["word", "=x", ":x", "a:={", ""])
  func noItem(word: String) {
    #expect(throws: PlanError.self) { try Words(["h.example", word]) }
  }

  @Test("A command line without words is rejected")
  func noWord() {
    #expect(throws: PlanError.self) { try Words([]) }
  }
}
