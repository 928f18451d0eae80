import HTTPTypes
import Testing

@testable import ApusTransfers

@Suite("File names that servers suggest")
struct FileNameTests {
  @Test(
    "A name loses folders, leading dots, control characters and reserved characters",
    arguments: [
      ("film.mp4", "film.mp4"), ("../../etc/passwd", "passwd"), (#"C:\Users\a\film.mp4"#, "film.mp4"),
      ("/etc/cron.d/x", "x"), (".bashrc", "bashrc"), ("...", nil), ("", nil), ("/", nil), ("a/", nil),
      (" film .mp4 ", "film .mp4"), ("film.mp4...", "film.mp4"), ("fi\u{0}l\r\nm\u{1B}.mp4", "film.mp4"),
      ("a:b*c?d\"e<f>g|h", "a_b_c_d_e_f_g_h"), ("CON", "_CON"), ("nul.txt", "_nul.txt"), ("COM7.log", "_COM7.log"),
      ("COMA", "COMA"), ("console", "console"), ("film\u{202E}4pm.exe", "film4pm.exe"), ("été.txt", "été.txt"),
      ("日本.pdf", "日本.pdf"), ("\u{200B}", nil), ("film.mp4.apus-part", "_film.mp4.apus-part"),
      ("film.mp4.APUS-part.json", "_film.mp4.APUS-part.json"), (".", nil), ("..", nil), ("-rf", "_-rf"),
      ("a/--output=x", "_--output=x"), (". -rf", "_-rf"), ("a-b", "a-b"),
    ] as [(String, String?)])
  func safe(_ text: String, _ name: String?) {
    #expect(FileName(text)?.description == name)
  }

  @Test("A long name keeps its extension and has at most 200 bytes")
  func long() throws {
    let name = try #require(FileName(String(repeating: "é", count: 500) + ".mp4"))
    #expect(name.description.utf8.count <= 200 && name.description.hasSuffix("é.mp4"))
    #expect(name.numbered(1000).description.utf8.count <= 200)
    let extended = try #require(FileName("a." + String(repeating: "b", count: 500)))
    #expect(extended.description.utf8.count == 200)
    #expect(FileName(String(repeating: "a", count: 1_000_000))?.description.utf8.count == 200)
  }

  private func name(_ disposition: String?, _ url: String? = nil) -> String {
    var head = HTTPResponse(status: .ok)
    head.headerFields[.contentDisposition] = disposition
    return FileName.suggested(by: head, url: url).description
  }

  @Test(
    "The name comes from Content-Disposition",
    arguments: [
      ("attachment; filename=film.mp4", "film.mp4"), (#"attachment; filename="my film.mp4""#, "my film.mp4"),
      (#"inline; filename="a\"b;c.txt""#, "a_b;c.txt"), (#"attachment; FileName = "film.mp4" ; x=y"#, "film.mp4"),
      ("attachment; filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
      ("attachment; filename=\"EURO.txt\"; filename*=utf-8'en'%e2%82%ac.txt", "€.txt"),
      ("attachment; filename*=iso-8859-1''%A3.txt; filename=x", "£.txt"),
      ("attachment; filename*=UTF-8''%ff.txt; filename=plain.txt", "plain.txt"),
      ("attachment; filename*=UTF-8''%4; filename=plain.txt", "plain.txt"),
      ("attachment; filename*=koi8-r''a; filename=plain.txt", "plain.txt"),
      ("attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"),
      ("attachment; filename=\"...\"; filename*=UTF-8''%2e%2e", "download"),
      ("attachment; x=\"filename=bad.txt\"; filename=good.txt", "good.txt"), ("attachment", "download"),
      ("attachment; filename=-rf", "_-rf"),
      ("attachment; filename=", "download"), (#"attachment; filename="open"#, "open"),
      ("filename=film.mp4", "download"),
    ])
  func disposition(_ value: String, _ expected: String) {
    #expect(name(value) == expected)
  }

  @Test(
    "Without Content-Disposition, the name is the last segment of the URL's path",
    arguments: [
      ("https://a.example/films/7.mp4", "7.mp4"), ("https://a.example/films/7.mp4?key=a/b#c/d", "7.mp4"),
      ("https://a.example/my%20film.mp4", "my film.mp4"), ("https://a.example/a%2F..%2Fb.txt", "b.txt"),
      ("https://a.example/%2e%2e", "download"), ("https://a.example/", "download"), ("https://a.example", "download"),
      ("https://a.example/100%.txt", "100%.txt"), ("/films/7.mp4", "7.mp4"), ("", "download"),
    ])
  func url(_ url: String, _ expected: String) {
    #expect(name(nil, url) == expected)
    #expect(name("attachment; filename=own.txt", url) == "own.txt")
  }

  @Test("A taken name gets the first free number before its extension")
  func numbers() throws {
    let name = try #require(FileName("film.tar.gz"))
    let taken: Set = ["film.tar.gz", "film.tar (2).gz"]
    #expect(name.free { taken.contains($0.description) }?.description == "film.tar (3).gz")
    #expect(name.free { _ in false } == name)
    #expect(name.free { _ in true } == nil)
  }
}
