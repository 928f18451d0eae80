import unittest

import api_text


def symbol(path, kind, text, **more):
    return {"identifier": {"precise": "s:" + ".".join(path)}, "pathComponents": path, "kind": {"identifier": kind},
            "accessLevel": "public", "declarationFragments": [{"spelling": text}], **more}


def relation(kind, source, target, **more):
    return {"kind": kind, "source": "s:" + source, "target": "s:" + target, **more}


GRAPH = {
    "symbols": [
        symbol(["B"], "swift.struct", "struct B"),
        symbol(["B", "z"], "swift.property", "var z:  Int"),
        symbol(["B", "a(_:)"], "swift.method", "func a(_ b: Int)"),
        symbol(["A"], "swift.protocol", "protocol A"),
        symbol(["A", "v"], "swift.property", "var v: Int { get }"),
        symbol(["A", "w()"], "swift.method", "func w()",
               swiftExtension={"constraints": [{"kind": "conformance", "lhs": "Self", "rhs": "Equatable"}]}),
    ],
    "relationships": [
        relation("memberOf", "B.z", "B"), relation("memberOf", "B.a(_:)", "B"), relation("memberOf", "A.w()", "A"),
        relation("requirementOf", "A.v", "A"), relation("conformsTo", "B", "A"),
        relation("conformsTo", "B", "P", targetFallback="Swift.Sendable"),
        relation("conformsTo", "B", "C", targetFallback="Swift.Copyable"),
    ],
}


class Rendering(unittest.TestCase):
    def test_declarations_are_sorted_and_nested_with_their_conformances(self):
        self.assertEqual(api_text.render("T", [GRAPH]).splitlines()[2:], [
            "public protocol A",
            "  requirement var v: Int { get }",
            "  public func w()  [where Self : Equatable]",
            "",
            "public struct B",
            "  : A",
            "  : Sendable",
            "  public func a(_ b: Int)",
            "  public var z: Int",
        ])

    def test_the_order_of_the_sources_does_not_matter(self):
        other = {key: list(reversed(values)) for key, values in GRAPH.items()}
        self.assertEqual(api_text.render("T", [GRAPH]), api_text.render("T", [other]))

    def test_a_change_of_type_shows(self):
        changed = {**GRAPH, "symbols": GRAPH["symbols"][:1] + [symbol(["B", "z"], "swift.property", "var z: Int?")]
                   + GRAPH["symbols"][2:]}
        self.assertNotEqual(api_text.render("T", [GRAPH]), api_text.render("T", [changed]))
