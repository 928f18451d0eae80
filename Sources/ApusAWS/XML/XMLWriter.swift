#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A writer of XML documents in UTF-8.
struct XMLWriter {
  private var text = ""

  /// Writes a document.
  ///
  /// - Parameter namespace: the namespace of all elements. Default: `nil`, none.
  static func document(_ root: XMLTree, namespace: String? = nil) -> Data {
    var writer = XMLWriter()
    writer.text = #"<?xml version="1.0" encoding="UTF-8"?>"#
    writer.append(root, namespace: namespace)
    return Data(writer.text.utf8)
  }

  /// Whether text consists of characters that a document can contain (XML 1.0 §2.2).
  static func canWrite(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...: true
      default: false
      }
    }
  }

  private mutating func append(_ element: XMLTree, namespace: String?) {
    text += "<\(element.name)"
    if let namespace {
      text += " xmlns=\""
      append(escaping: namespace)
      text += "\""
    }
    text += ">"
    append(escaping: element.text)
    for child in element.children { append(child, namespace: nil) }
    text += "</\(element.name)>"
  }

  private mutating func append(escaping value: String) {
    for scalar in value.unicodeScalars {
      switch scalar {
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "&": text += "&amp;"
      case "\"": text += "&quot;"
      // Without escapes, these characters would be read as a line feed and as spaces.
      case "\r": text += "&#13;"
      case "\n": text += "&#10;"
      case "\t": text += "&#9;"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}
