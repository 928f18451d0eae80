#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The types of Foundation with a special representation in JSON.
enum FoundationTypes {
  static func typeClass(of type: Any.Type) -> TypeClass? {
    switch type {
    case is Date.Type, is Data.Type, is URL.Type, is Decimal.Type: .other
    default: nil
    }
  }
}
