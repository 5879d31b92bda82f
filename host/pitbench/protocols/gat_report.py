"""Results of a GAT device: what they say, and what they should say.

A result is text or XML, laid out as docs/gat.md has it. Digests are computed here from files on the PC, apart from the
firmware.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from xml.etree import ElementTree

from pitbench.protocols.gat import Format, GatError

HEX = re.compile(r"([0-9A-Fa-f]{2})+")
# Lines of a text report: one of its head or its end, and a component's.
FACT = re.compile(r"(\w+): (.*)")
ROW = re.compile(r"(\S+)  (/.*)")
QUOTED = 200


class GarbageInResult(GatError):
    """A result came whole, and can't be understood; what it quotes of it is cut short and made printable."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The device's result is garbage: {quoted(why)}.", "Print it as it came, with --raw, and look there."
        )


def quoted(text: str) -> str:
    """What a device said, cut short and made printable."""
    return text[:QUOTED].encode("unicode_escape").decode("ascii")


class Algorithm(Enum):
    """How a digest is made; the value is how it is written."""

    SHA1 = "SHA-1"
    HMAC_SHA1 = "HMAC-SHA1"
    SHA256 = "SHA-256"
    HMAC_SHA256 = "HMAC-SHA256"

    @property
    def keyed(self) -> bool:
        """Whether the seed is its key."""
        return self in (Algorithm.HMAC_SHA1, Algorithm.HMAC_SHA256)

    @property
    def hash_name(self) -> str:
        """Name of its hash in hashlib."""
        return "sha1" if self in (Algorithm.SHA1, Algorithm.HMAC_SHA1) else "sha256"

    @property
    def size(self) -> int:
        """Bytes in a digest."""
        return hashlib.new(self.hash_name).digest_size


@dataclass(frozen=True)
class Component:
    """One line of a report: id (its path), digest in lower-case hex, how it was made, seed (None: none)."""

    id: str
    digest: str
    algorithm: Algorithm
    seed: bytes | None = None


@dataclass(frozen=True)
class SpecialFunction:
    """A special function that the device offers: name, and its arguments; `%%NAME%%` stands for one to be given."""

    name: str
    parameters: tuple[str, ...] = ()


# What files should give


def algorithm_for(seed: bytes | None) -> Algorithm:
    """Return what GAT uses: SHA-1 without a seed, HMAC-SHA1 keyed by it with one."""
    return Algorithm.HMAC_SHA1 if seed else Algorithm.SHA1


def digest_of(content: bytes, algorithm: Algorithm, seed: bytes | None = None) -> str:
    """Return the digest of a file's content in lower-case hex.

    Raises ValueError if a keyed algorithm gets no seed, or an unkeyed one gets some.
    """
    if algorithm.keyed != bool(seed):
        raise ValueError(f"{algorithm.value} {'needs' if algorithm.keyed else 'takes no'} seed")
    if seed:
        return hmac.new(seed, content, algorithm.hash_name).hexdigest()
    return hashlib.new(algorithm.hash_name, content).hexdigest()


def expected_digests(
    files: Mapping[str, bytes], seed: bytes | None = None, algorithm: Algorithm | None = None
) -> dict[str, str]:
    """Return path → digest that a device should report.

    Args:
        files: content by path on the board, as `pitbench.image.board_files` gives it.
        algorithm: None for what GAT uses, see `algorithm_for`.

    Raises ValueError as `digest_of` does.
    """
    how = algorithm or algorithm_for(seed)
    return {path: digest_of(content, how, seed) for path, content in files.items()}


def differences(
    report: Mapping[str, Component], files: Mapping[str, bytes], seed: bytes | None = None, *, whole: bool = True
) -> list[str]:
    """Return one sentence for each component that isn't as the files say; an empty list means that all are.

    Args:
        seed: the one that was asked with; what the device says of it is compared, never believed.
        whole: whether a file that the report leaves out is a difference too.
    """
    left_out = sorted(set(files) - set(report)) if whole else []
    found = [_difference(component, files.get(component.id), seed or None) for component in report.values()]
    return [sentence for sentence in found if sentence] + [f"{path} is left out by the device." for path in left_out]


def _difference(component: Component, content: bytes | None, seed: bytes | None) -> str:
    if content is None:
        return f"{component.id} is on the device and not among the files."
    if (component.seed or None) != seed or component.algorithm.keyed != bool(seed):
        return f"{component.id} is answered by {component.algorithm.value} with {_seed_text(component.seed)}."
    expected = digest_of(content, component.algorithm, seed)
    return "" if component.digest == expected else f"{component.id} has {component.digest}, and should have {expected}."


def _seed_text(seed: bytes | None) -> str:
    return f"seed {seed.hex()}" if seed else "no seed"


# What the device says


def parse_report(data: bytes, form: int) -> dict[str, Component]:
    """Return component id → component.

    Args:
        data: the whole result.
        form: 1 text, 2 XML.

    Raises GarbageInResult.
    """
    facts, rows = _parts(data, form)
    key, how = facts.get("Seed", ""), _algorithm(facts.get("Algorithm", ""))
    seed = _hex(key, "its seed") if key else None
    if how.keyed != bool(seed):
        raise GarbageInResult(f"it has {how.value} with {_seed_text(seed)}")
    report: dict[str, Component] = {}
    for name, digest in rows:
        if name in report:
            raise GarbageInResult(f"it names {name} twice")
        report[name] = _component(name, digest, how, seed)
    if not report:
        raise GarbageInResult("it names no component")
    return report


def parse_facts(data: bytes, form: int) -> dict[str, str]:
    """Return what a report says beside its components, by name: Version, NotDigested, … Raises GarbageInResult."""
    return _parts(data, form)[0]


def parse_component(data: bytes, form: int, name: str) -> Component:
    """Return the one component that was asked for. Raises GarbageInResult, also for another one."""
    report = parse_report(data, form)
    if list(report) != [name]:
        raise GarbageInResult(f"{name} was asked for, and it names {', '.join(report)}")
    return report[name]


def parse_functions(data: bytes, form: int) -> list[SpecialFunction]:
    """Return the special functions of a device, in its order. Raises GarbageInResult."""
    functions = []
    for element in _xml(data, form, "SpecialFunctions").iter("Function"):
        name = (element.findtext("Feature") or "").strip()
        if not name:
            raise GarbageInResult("a function has no name")
        functions.append(SpecialFunction(name, tuple((p.text or "").strip() for p in element.iter("Parameter"))))
    if not functions:
        raise GarbageInResult("it names no function")
    return functions


def parse_file(data: bytes, form: int, name: str) -> bytes:
    """Return the content of the file that was asked for. Raises GarbageInResult, also for another one."""
    root = _xml(data, form, "File")
    if root.get("Name") != name:
        raise GarbageInResult(f"{name} was asked for, and it gives {root.get('Name')}")
    if root.get("Encoding") != "base64":
        raise GarbageInResult(f"the encoding of {name} is {root.get('Encoding')}, and base64 is understood")
    try:
        return base64.b64decode("".join((root.text or "").split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise GarbageInResult(f"the content of {name} is no base64 ({error})") from error


def reason_of(data: bytes, form: int) -> str:
    """Return why a device's status is error, from its result: printable, "" where it doesn't say.

    Raises GarbageInResult.
    """
    if _is_text(form):
        line = (_lines(data) or [""])[0]
        return quoted(line.removeprefix("Error: "))
    root = _xml_root(data)
    return quoted((root.text or "").strip()) if root.tag == "Error" else ""


def _is_text(form: int) -> bool:
    if form not in Format._value2member_map_:
        raise GarbageInResult(f"its format is {form:02x}, neither 01 (text) nor 02 (XML)")
    return form == Format.TEXT


def _parts(data: bytes, form: int) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Facts by name, and (path, digest) of each component."""
    return _text_parts(data) if _is_text(form) else _xml_parts(data, form)


def _lines(data: bytes) -> list[str]:
    """Every line that isn't empty."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise GarbageInResult(f"byte {error.start} of its text is {data[error.start]:02x}, no UTF-8") from error
    return [line for line in text.replace("\r\n", "\n").split("\n") if line]


def _text_parts(data: bytes) -> tuple[dict[str, str], list[tuple[str, str]]]:
    lines = _lines(data)
    facts = {match[1]: match[2] for line in lines if (match := FACT.fullmatch(line))}
    rows = [(match[2], match[1]) for line in lines if (match := ROW.fullmatch(line))]
    if "Error" in facts:
        raise GarbageInResult(f"it is an error: {facts['Error']}")
    # What was cut off would be left out without a word.
    if facts.get("Files") != str(len(rows)):
        raise GarbageInResult(f"it counts {facts.get('Files', 'no')} files, and names {len(rows)}")
    return facts, rows


def _xml_parts(data: bytes, form: int) -> tuple[dict[str, str], list[tuple[str, str]]]:
    game = _xml(data, form, "Components").find("Game")
    if game is None:
        raise GarbageInResult("it has no Game")
    return dict(game.attrib), [(row.get("Name", ""), row.get("Checksum", "")) for row in game.iter("Component")]


def _component(name: str, digest: str, how: Algorithm, seed: bytes | None) -> Component:
    if not name:
        raise GarbageInResult("a component has no name")
    if not name.isprintable():
        raise GarbageInResult(f"the name {name} can't be printed")
    if len(_hex(digest, f"the digest of {name}")) != how.size:
        raise GarbageInResult(f"the digest of {name} has {len(digest)} digits, and {how.value} has {2 * how.size}")
    return Component(name, digest.lower(), how, seed)


def _hex(text: str, what: str) -> bytes:
    if not HEX.fullmatch(text):
        raise GarbageInResult(f"{what} is '{text}', no hex")
    return bytes.fromhex(text)


def _algorithm(name: str) -> Algorithm:
    for algorithm in Algorithm:
        if algorithm.value == name:
            return algorithm
    raise GarbageInResult(f"the algorithm '{name}' is unknown")


class _NoDoctype(ElementTree.TreeBuilder):
    """Refuses a document type: entities are how XML grows, or reaches for files."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise GarbageInResult(f"its XML declares a document type ({name})")


def _xml(data: bytes, form: int, tag: str) -> ElementTree.Element:
    """The root of an XML result that has to be a `tag`."""
    if _is_text(form):
        raise GarbageInResult(f"it is text, and {tag} is XML")
    root = _xml_root(data)
    if root.tag == "Error":
        raise GarbageInResult(f"it is an error: {(root.text or '').strip()}")
    if root.tag != tag:
        raise GarbageInResult(f"it is a {root.tag}, and no {tag}")
    return root


def _xml_root(data: bytes) -> ElementTree.Element:
    parser = ElementTree.XMLParser(target=_NoDoctype())
    try:
        parser.feed(data)
        root: ElementTree.Element = parser.close()
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise GarbageInResult(f"it is no XML ({error})") from error
    return root
