"""Results of a GAT device: what they say, and what they should say.

A result is text or XML. Their inner layout is not public in what was read: docs/gat.md has ours. In XML a value may be
an attribute or an element of that name. Digests are computed here from files on the PC, apart from the firmware.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from xml.etree import ElementTree

from pitbench.protocols.gat import Format, GatError

HEX = re.compile(r"([0-9A-Fa-f]{2})+")
QUOTED = 200


class GarbageInResult(GatError):
    """A result came whole, and can't be understood; what it quotes of it is cut short and made printable."""

    def __init__(self, why: str) -> None:
        shown = why[:QUOTED].encode("unicode_escape").decode("ascii")
        super().__init__(
            f"The device's result is garbage: {shown}.", "Print it as it came, with --raw, and look there."
        )


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
    """One line of a report: id (a path on the board), digest in lower-case hex, how it was made, seed (None: none)."""

    id: str
    digest: str
    algorithm: Algorithm
    seed: bytes | None = None


@dataclass(frozen=True)
class SpecialFunction:
    """A special function that the device offers: name, and names of its arguments."""

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
        files: content by path on the board, as `pitbench.signature.image_files` gives it.
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
    rows = _text_components(data) if _is_text(form) else _xml_components(data)
    report: dict[str, Component] = {}
    for component in rows:
        if component.id in report:
            raise GarbageInResult(f"it names {component.id} twice")
        report[component.id] = component
    if not report:
        raise GarbageInResult("it names no component")
    return report


def parse_component(data: bytes, form: int, name: str) -> Component:
    """Return the one component that was asked for. Raises GarbageInResult, also for another one."""
    report = parse_report(data, form)
    if list(report) != [name]:
        raise GarbageInResult(f"{name} was asked for, and it names {', '.join(report)}")
    return report[name]


def parse_functions(data: bytes, form: int) -> list[SpecialFunction]:
    """Return the special functions of a device, in its order. Raises GarbageInResult."""
    rows = _lines(data) if _is_text(form) else _xml_functions(data)
    functions = [SpecialFunction(name, tuple(parameters)) for name, *parameters in rows]
    if not functions:
        raise GarbageInResult("it names no function")
    return functions


def _is_text(form: int) -> bool:
    if form not in Format._value2member_map_:
        raise GarbageInResult(f"its format is {form:02x}, neither 01 (text) nor 02 (XML)")
    return form == Format.TEXT


def _lines(data: bytes) -> list[list[str]]:
    """Fields of each line that isn't empty."""
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError as error:
        raise GarbageInResult(f"byte {error.start} of its text is {data[error.start]:02x}, no ASCII") from error
    return [line.split("\t") for line in text.splitlines() if line.strip()]


def _text_components(data: bytes) -> Iterator[Component]:
    heads = {"Algorithm": "", "Seed": ""}
    for key, *fields in _lines(data):
        if key in heads and len(fields) == 1:
            heads[key] = fields[0]
        elif key == "Component":
            if len(fields) != 2:
                raise GarbageInResult(f"a component has {len(fields)} fields where id and digest belong")
            yield _component(fields[0], fields[1], heads["Algorithm"], heads["Seed"])


def _component(name: str, digest: str, algorithm: str, seed: str) -> Component:
    key = _hex(seed, f"the seed of {name}") if seed else None
    how = _algorithm(algorithm) if algorithm else algorithm_for(key)
    if not name:
        raise GarbageInResult("a component has no id")
    if not name.isprintable():
        raise GarbageInResult(f"the id {name} can't be printed")
    if how.keyed != bool(key):
        raise GarbageInResult(f"{name} has {how.value} with {_seed_text(key)}")
    if len(_hex(digest, f"the digest of {name}")) != how.size:
        raise GarbageInResult(f"the digest of {name} has {len(digest)} digits, and {how.value} has {2 * how.size}")
    return Component(name, digest.lower(), how, key)


def _hex(text: str, what: str) -> bytes:
    if not HEX.fullmatch(text):
        raise GarbageInResult(f"{what} is '{text}', no hex")
    return bytes.fromhex(text)


def _algorithm(name: str) -> Algorithm:
    for algorithm in Algorithm:
        if _bare(algorithm.value) == _bare(name):
            return algorithm
    raise GarbageInResult(f"the algorithm '{name}' is unknown")


def _bare(name: str) -> str:
    return name.upper().replace("-", "").replace("_", "")


class _NoDoctype(ElementTree.TreeBuilder):
    """Refuses a document type: entities are how XML grows, or reaches for files."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise GarbageInResult(f"its XML declares a document type ({name})")


def _xml_root(data: bytes) -> ElementTree.Element:
    parser = ElementTree.XMLParser(target=_NoDoctype())
    try:
        parser.feed(data)
        root: ElementTree.Element = parser.close()
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise GarbageInResult(f"it is no XML ({error})") from error
    return root


def _xml_components(data: bytes) -> Iterator[Component]:
    root = _xml_root(data)
    for element in _named(root.iter(), "component"):
        algorithm, seed = (_value(element, key) or _value(root, key) for key in ("algorithm", "seed"))
        yield _component(_value(element, "id"), _value(element, "digest"), algorithm, seed)


def _xml_functions(data: bytes) -> Iterator[list[str]]:
    for element in _named(_xml_root(data).iter(), "function"):
        name = _value(element, "name")
        if not name:
            raise GarbageInResult("a function has no name")
        yield [name, *(_text(parameter) for parameter in _named(element, "parameter"))]


def _named(elements: Iterable[ElementTree.Element], name: str) -> Iterator[ElementTree.Element]:
    return (element for element in elements if _local(str(element.tag)) == name)


def _local(name: str) -> str:
    """A name without its namespace, in lower case."""
    return name.rpartition("}")[2].lower()


def _value(element: ElementTree.Element, name: str) -> str:
    """An attribute of this name, or a child's text; "" for neither."""
    attributes = [value for key, value in element.attrib.items() if _local(key) == name]
    return (attributes + [_text(child) for child in _named(element, name)] + [""])[0].strip()


def _text(element: ElementTree.Element) -> str:
    return (element.text or "").strip()
