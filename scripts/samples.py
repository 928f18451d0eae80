"""The samples of the documentation, as source files that the tests compile.

    samples.py write | check        (called by scripts/samples, from the repository's root)

A guide is an article of a documentation catalog (Sources/**/*.docc/**/*.md) with ```swift blocks. Its blocks are one
program, which is compiled as a reader would paste it, in the package Tests/Guides, which sees public products only:

- imports come first; types and extensions go to the file's scope, made private, since all guides are files of one
  target; functions and statements go, in order, into one function on the main actor, where top-level code runs too;
- a guide that imports Testing is pasted as it is into a file of a test target, and its tests run;
- `<!-- sample: none REASON -->` before a block leaves it out.

All other samples compile alone, with shared declarations around them. Every ```swift block of README.md,
CONTRIBUTING.md and docs/**/*.md has a marker before it: <!-- sample: NAME [continues OTHER] [file | body] [main]
[as TYPE] --> or <!-- sample: none REASON -->. A block in a doc comment of Sources/ may have a marker (a `///` line
before the fence); without one it is numbered. Each becomes one file in a folder that is not committed,
Tests/DocumentationTests/Generated/<document>-<name>.swift:

- imports come first; declarations (types, extensions, functions) go to the file's scope, made private so that two
  samples may both declare `User`; all other statements go, in order, into one `async throws` function;
- `file` puts everything at file scope, `body` everything into the function; `main` makes the function @MainActor;
- `as TYPE` is for a list of values, such as `.get("/users")`: each becomes `let _: TYPE = …`;
- `continues OTHER` puts the code of OTHER (same document) before it, recursively if OTHER continues another;
- the declarations of scripts/sample-preambles/all.swift are copied in, except those that the sample declares itself (of
  an extension: one of its members); samples of a target's documentation also get that target's preamble and import;
- samples of the documentation of ApusMacros need its trait: they become tests of the package Tests/Macros, with the
  preamble of their target only;
- unused variables of a sample are used at the end, and `{ … }` becomes a body that traps;
- `none` leaves a block out: only for code that is not meant to compile in a test.
"""

import glob
import os
import re
import sys

import swift_source

OUT = "Tests/DocumentationTests/Generated"
# Where the samples of targets go that the package compiles only with a trait which is off in its own tests.
OTHER_OUT = {"ApusMacros": "Tests/Macros/SampleTests/Generated"}
GUIDES_OUT = "Tests/Guides/Guides/Generated"
# Where the guides about tests go, which also run.
TEST_GUIDES_OUT = "Tests/Guides/GuideTests/Generated"
PREAMBLES = "scripts/sample-preambles"

_MARKER = re.compile(r"^\s*<!--\s*sample:\s*(.*?)\s*-->\s*$")
_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*([\w+-]*)")
_ACCESS = ("public", "private", "fileprivate", "internal", "package", "open")
_WORD = re.compile(r"(?:@\w+(?:\([^)]*\))?|\w+(?:\((?:set|nonsending|unsafe)\))?)\s*")
_MODIFIERS = {"final", "static", "nonisolated", "indirect", "isolated", "lazy", "weak", "prefix", "postfix", "infix"}
_DECLARATIONS = {"struct", "enum", "class", "actor", "protocol", "extension", "func", "typealias", "macro",
                 "precedencegroup", "operator"}
_CONTINUING = re.compile(r"[)\]}.?:&|+]|(?:else|catch|where|#else|#elseif|#endif)\b")


class Problem(Exception):
    pass


class Sample:
    def __init__(self, document, line, name, options, text):
        self.document, self.line, self.name, self.text = document, line, name, text
        self.where = f"{document}:{line}"
        self.continues, self.mode, self.type, self.main_actor = None, "split", None, False
        words = options.split()
        while words:
            word = words.pop(0)
            if word == "continues" and words:
                self.continues = words.pop(0)
            elif word == "as" and words:
                self.mode, self.type = "body", words.pop(0)
            elif word in ("file", "body"):
                self.mode = word
            elif word == "main":
                self.main_actor = True
            else:
                raise Problem(f"{self.where}: a marker does not know '{word}'")


class Chunk:
    """A top-level piece of a sample; `kind` is import, declaration (with its name) or statement."""

    def __init__(self, kind, name, lines, keyword):
        self.kind, self.name, self.lines, self.keyword = kind, name, lines, keyword


def documents():
    markdown = [path for path in ("README.md", "CONTRIBUTING.md") if os.path.exists(path)]
    markdown += glob.glob("docs/**/*.md", recursive=True) + glob.glob("Sources/**/*.docc/**/*.md", recursive=True)
    return sorted(set(markdown)) + swift_source.swift_files("Sources")


def is_guide(document):
    """Whether the blocks of a document are one program, compiled in the package Tests/Guides."""
    return ".docc/" in document and document.split("/")[1] not in OTHER_OUT


def extract(document, text):
    """(samples, number of blocks marked `none`) of one document."""
    comments = document.endswith(".swift")
    samples, left_out, marker, fence, block = [], 0, None, None, []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw
        if comments:
            comment = re.match(r"\s*///( ?)(.*)$", raw)
            if comment is None:
                marker, fence = None, None
                continue
            line = comment.group(2)
        if fence is not None:
            closing = line.strip()
            if closing and set(closing) == {fence[1][0]} and len(closing) >= len(fence[1]):
                if fence[2] == "swift":
                    sample = _sample(document, fence[3], marker, block, samples, comments)
                    samples += [sample] if sample else []
                    left_out += 0 if sample else 1
                marker, fence = None, None
            else:
                block.append(line[len(fence[0]):] if line.startswith(fence[0]) else line.lstrip())
        elif (opening := _FENCE.match(line)) is not None:
            fence, block = (*opening.groups(), number), []
        elif (found := _MARKER.match(line)) is not None:
            marker = found.group(1)
        elif line.strip():
            marker = None
    return samples, left_out


def _sample(document, line, marker, block, earlier, comments):
    if marker is None:
        if not comments and not is_guide(document):
            raise Problem(f"{document}:{line}: a swift block without a marker: <!-- sample: NAME --> before it")
        marker = str(len(earlier) + 1)
    name, _, options = marker.partition(" ")
    if name == "none":
        if not options:
            raise Problem(f"{document}:{line}: 'sample: none' needs a reason")
        return None
    if not re.fullmatch(r"[\w-]+", name):
        raise Problem(f"{document}:{line}: '{name}' is no name for a sample")
    if any(it.name == name for it in earlier):
        raise Problem(f"{document}:{line}: a second sample is called '{name}'")
    return Sample(document, line, name, options, "\n".join(block))


def chunks(text, values=False):
    """Splits code at the lines that start a statement or declaration at column 0; a list of values at every line."""
    code = swift_source.code(text).splitlines()
    starts, lines, depth, prefix, conditional = [], text.splitlines(), 0, None, 0
    for index, line in enumerate(code):
        blank = not line.strip()
        begins = depth == 0 and conditional == 0 and not blank and not line[0].isspace()
        begins = begins and (not starts or values or not _CONTINUING.match(line))
        if begins and not (prefix is not None and prefix == starts[-1]):
            starts.append(index)
        prefix = starts[-1] if begins and re.fullmatch(r"(?:@\w+(?:\([^)]*\))?\s*)+", line.strip() + " ") else None
        if blank and lines[index].strip().startswith("//") and depth == 0 and not lines[index][0].isspace():
            if not (starts and starts[-1] < index and all(not it.strip() for it in code[starts[-1]:index])):
                starts.append(index)
            prefix = starts[-1]
        conditional += bool(re.match(r"#if\b", line)) - bool(re.match(r"#endif\b", line))
        depth += sum(line.count(it) for it in "([{") - sum(line.count(it) for it in ")]}")
    pieces = [lines[a:b] for a, b in zip(starts, starts[1:] + [len(lines)])]
    return [_chunk(piece) for piece in pieces]


def _chunk(lines):
    code = swift_source.code("\n".join(lines)).strip()
    if re.match(r"(?:@\w+\s+|public\s+|internal\s+|private\s+)*import\b", code):
        return Chunk("import", code, [line for line in lines if not line.startswith("//")], "import")
    index, words = 0, []
    while (match := _WORD.match(code, index)) is not None:
        words.append(match.group().strip())
        index = match.end()
        bare = words[-1].split("(")[0]
        if not (bare.startswith("@") or bare in _MODIFIERS or bare in _ACCESS):
            break
    keyword = words[-1] if words else ""
    if keyword in _DECLARATIONS or (keyword in ("let", "var")):
        name = re.match(r"`?(\w+)", code[index:])
        kind = "statement" if keyword in ("let", "var") else "declaration"
        return Chunk(kind, name.group(1) if name else "", lines, keyword)
    return Chunk("statement", "", lines, keyword)


def _private(chunk):
    """A declaration's lines, made private unless it is an extension with a conformance."""
    lines = [re.sub(r"^@main\b\s*", "", line) for line in chunk.lines]
    code = swift_source.code("\n".join(lines)).splitlines()
    for index, line in enumerate(code):
        if not re.search(rf"(?:^|\s){chunk.keyword}\b", line):
            continue
        conforms = chunk.keyword == "extension" and re.match(r"[^{]*?:", line.split("where")[0])
        access = any(re.search(rf"(?:^|\s){word}\s", line.split("{")[0]) for word in _ACCESS)
        if not conforms and not access:
            lines[index] = "private " + lines[index]
        break
    return lines


def _uses(chunk_list):
    """Statements that use a sample's variables, so that the compiler does not warn of unused ones."""
    names = []
    for chunk in chunk_list:
        text = "\n".join(chunk.lines)
        names += re.findall(r"^(?:guard )?(?:let|var) (\w+)", text, re.M)
        names += ["try await " + name for name in re.findall(r"^async let (\w+)", text, re.M)]
    return [f"  _ = {name}" for name in dict.fromkeys(names) if name != "_"]


def _redeclared(shared, declarations):
    """Whether a sample declares the name itself, or, of an extension, one of its members."""
    if shared.keyword != "extension":
        return any(it.name == shared.name and it.keyword != "extension" for it in declarations)
    members = re.findall(r"\b(?:func|var|let)\s+(\w+)", "\n".join(shared.lines[1:]) or shared.lines[0])
    text = "\n".join("\n".join(it.lines) for it in declarations if it.keyword == "extension")
    return any(re.search(rf"\b(?:func|var|let)\s+{member}\b", text) for member in members)


def generate(sample, by_name, preamble):
    """The Swift file of one sample."""
    chain, here = [sample], sample
    while here.continues is not None:
        if here.continues not in by_name or by_name[here.continues] in chain:
            raise Problem(f"{sample.where}: continues '{here.continues}', which {sample.document} does not have")
        here = by_name[here.continues]
        chain.insert(0, here)

    imports, declarations, statements = [], [], []
    for part in chain:
        for chunk in chunks(_filled(part.text), values=part.type is not None):
            if part.type is not None:
                chunk.lines[0] = f"let _: {part.type} = " + chunk.lines[0]
            if chunk.kind == "import":
                imports.append("\n".join(chunk.lines).strip())
            elif part.mode == "file" or (part.mode == "split" and chunk.kind == "declaration"):
                declarations.append(chunk)
            else:
                statements.append(chunk)

    shared = [it for it in preamble if it.kind != "import" and not _redeclared(it, declarations)]
    header = ["\n".join(it.lines).strip() for it in preamble if it.kind == "import"]
    target = re.match(r"Sources/(\w+)/", sample.document)
    header += [f"import {target.group(1)}"] if target and f"import {target.group(1)}" not in header else []
    header += ["import Testing"] if re.search(r"#expect|#require|@Test|@Suite", sample.text) else []
    extra = [it for it in dict.fromkeys(imports) if it not in header]

    out = ["// swift-format-ignore-file", f"// The sample '{sample.name}' of {sample.document}. Written by"
           " scripts/samples; do not edit.", ""]
    out += header + extra
    for chunk in shared + declarations:
        out += [""] + _trimmed(_private(chunk))
    if statements:
        out += [""] + ["@MainActor"] * sample.main_actor + ["private func sample() async throws {"]
        for chunk in statements:
            out += ["  " + line if line.strip() else "" for line in chunk.lines]
        out += _uses(statements) + ["}"]
    return "\n".join(out).rstrip("\n") + "\n"


def generate_guide(document, samples):
    """(folder, file name, Swift file) of a guide: what a reader gets by pasting all its blocks in order."""
    text = _filled("\n\n".join(sample.text for sample in samples)) + "\n"
    name = os.path.basename(document)[:-3] + ".swift"
    header = f"// swift-format-ignore-file\n// The guide {document}. Written by scripts/samples; do not edit.\n\n"
    if re.search(r"^import Testing$", text, re.M):
        return TEST_GUIDES_OUT, name, header + text
    imports, declarations, statements = [], [], []
    for chunk in chunks(text):
        if chunk.kind == "import":
            imports.append("\n".join(chunk.lines).strip())
        elif chunk.kind == "declaration" and chunk.keyword != "func":
            declarations += [""] + _trimmed(_private(chunk))
        else:
            statements.append(chunk)
    body = ["  " + line if line.strip() else "" for chunk in statements for line in chunk.lines] + _uses(statements)
    out = list(dict.fromkeys(imports)) + declarations
    if body:
        out += ["", "@MainActor", "private func guide() async throws {"] + body + ["}"]
    return GUIDES_OUT, name, header + "\n".join(out) + "\n"


def _trimmed(lines):
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def _filled(text):
    return re.sub(r"\{ *(?:…|\.\.\.) *\}", "{ fatalError() }", text)


def file_name(sample):
    stem = re.sub(r"\.(md|swift)$", "", sample.document)
    stem = re.sub(r"^Sources/", "", stem).replace(".docc", "").replace("+", "_")
    return re.sub(r"[^\w]+", "_", stem) + "-" + sample.name + ".swift"


def generate_all(texts, preambles):
    """({folder: {file name: text}}, number of samples, number of blocks left out).

    The arguments: {document: text} and {target or "all": preamble}.
    """
    generated = {out: {} for out in (OUT, *OTHER_OUT.values(), GUIDES_OUT, TEST_GUIDES_OUT)}
    total, left_out = 0, 0
    for document, text in sorted(texts.items()):
        samples, none = extract(document, text)
        total, left_out = total + len(samples), left_out + none
        if is_guide(document):
            if samples:
                out, name, guide = generate_guide(document, samples)
                generated[out][name] = guide
            continue
        by_name = {it.name: it for it in samples}
        target = document.split("/")[1] if document.startswith("Sources/") else None
        names = (target,) if target in OTHER_OUT else ("all", target)
        preamble = [chunk for name in names if name in preambles for chunk in chunks(preambles[name])]
        for sample in samples:
            generated[OTHER_OUT.get(target, OUT)][file_name(sample)] = generate(sample, by_name, preamble)
    return generated, total, left_out


def main(mode):
    texts = {path: swift_source.read(path) for path in documents()}
    preambles = {os.path.basename(path)[:-6]: swift_source.read(path) for path in glob.glob(PREAMBLES + "/*.swift")}
    if '"DocumentationTests"' not in swift_source.read("Package.swift"):
        raise Problem("Package.swift has no test target DocumentationTests, so the samples are not compiled")
    generated, total, left_out = generate_all(texts, preambles)
    for out, files in generated.items():
        (write if mode == "write" else check)(out, files)
    print(f"{total} samples, {left_out} left out")


def written(out):
    return {os.path.basename(path): swift_source.read(path) for path in glob.glob(out + "/*.swift")}


def write(out, generated):
    present = written(out)
    os.makedirs(out, exist_ok=True)
    for name in present.keys() - generated.keys():
        os.remove(os.path.join(out, name))
    for name, text in generated.items():
        if present.get(name) != text:
            with open(os.path.join(out, name), "w", encoding="utf-8") as file:
                file.write(text)


def check(out, generated):
    present = written(out)
    different = sorted(name for name in present.keys() | generated.keys() if present.get(name) != generated.get(name))
    if different:
        raise Problem(f"{out} is out of date, run scripts/samples and build the tests: " + " ".join(different))


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "write")
    except Problem as problem:
        sys.exit(f"samples: {problem}")
