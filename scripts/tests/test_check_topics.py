import unittest

import check_topics

API = "// The API.\n\npublic struct Client\n  : Sendable\n  public enum Mode\n\npublic @MainActor final class Loader<Value>\n"


class Topics(unittest.TestCase):
    def problems(self, *pages, umbrella=()):
        return check_topics.problems({"ApusCore": API}, {"ApusCore": list(pages), "Apus": list(umbrella)})

    def test_listed_types_pass_in_the_target_or_the_umbrella(self):
        self.assertEqual(self.problems("# A\n\n## Topics\n\n### B\n\n- ``Client``\n- ``Loader``\n"), [])
        self.assertEqual(
            self.problems("# A\n\n## Topics\n\n- ``Client``\n", umbrella=["# C\n\n## Topics\n\n- ``ApusCore/Loader``\n"]), [])

    def test_types_that_no_group_lists_are_named(self):
        self.assertEqual(self.problems("# A\n\nSee ``Client``.\n\n## Topics\n\n- ``Loader``\n"),
                         ["ApusCore: no topic group lists Client"])
        self.assertEqual(len(self.problems()), 2)


if __name__ == "__main__":
    unittest.main()
