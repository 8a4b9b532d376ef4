# SPDX-License-Identifier: BSD-3-Clause
"""Schemas in the XDR language (RFC 4506, RFC 5531 section 12), and values of theirs as octets.

Values: integers, booleans, floats; bytes for opaque data and strings; dictionaries for structures; (discriminant, value) for
unions, with None where the arm is void; lists for arrays; None for what is optional and absent; enums are integers. A linked
list (a structure whose last member is an optional one of its own type) is nested dictionaries.

Schemas are read by the compiler of `rpcrdma xdr`, with the C preprocessor where they need it; rpcrdma-xdr(1) has the language.
"""
import json
import os
import struct
import tempfile
from collections import namedtuple
from collections.abc import Mapping

from . import _rpcrdma

Declaration = namedtuple("Declaration", "name type kind size")  # kind: plain, fixed, variable, optional, void
Procedure = namedtuple("Procedure", "name number result arguments")
Version = namedtuple("Version", "name program number procedures")
Struct = namedtuple("Struct", "members")
Union = namedtuple("Union", "discriminant arms default")
Enum = namedtuple("Enum", "values")

VOID = Declaration(None, "void", "void", None)
NUMBERS = {"int": ">i", "unsigned int": ">I", "hyper": ">q", "unsigned hyper": ">Q", "float": ">f", "double": ">d"}
UNBOUNDED = 0xffffffff
DEPTH_MAX = 200  # below what the interpreter has room for


class XdrError(ValueError):
    """A schema that cannot be read, a value that does not fit it, or octets that do not decode."""


def _fail(text):
    raise XdrError(text)


def _describe(path, options):
    """What the schema in a file declares, as rpcrdma-xdr(1) says under JSON."""
    with open(path, "rb"):  # an exception says why not
        pass
    good, description, messages = _rpcrdma.describe(os.fsencode(path), [os.fsencode(option) for option in options])
    if not good:
        # The error is the last one; warnings may be in front of it.
        said = messages.decode(errors="replace").rstrip("\n").rpartition("\n")[2]
        _fail(said.replace(os.path.join(os.path.dirname(path), ""), "") if isinstance(path, _Written) else said)
    return json.loads(description.decode(errors="surrogateescape"))


class _Written(str):
    """The path of a file that has the text of a schema."""


class Schema:
    """What a schema in the XDR language declares: a text, or a file whose path is a pathlib.Path. Options are those of the C
    preprocessor, as ("-DMORE", "-Ifolder"); a text has no folder of its own from which it could include others."""

    def __init__(self, schema, options=()):
        if isinstance(schema, os.PathLike):
            described = _describe(os.fspath(schema), options)
        else:
            with tempfile.TemporaryDirectory(prefix="rpcrdma-") as folder:
                path = _Written(os.path.join(folder, "schema.x"))
                with open(path, "wb") as file:
                    file.write(schema.encode(errors="surrogateescape") if isinstance(schema, str) else schema)
                described = _describe(path, options)
        self.constants, self.types, self.versions = {"TRUE": 1, "FALSE": 0}, {}, {}
        self.constants.update(described["constants"])
        for name, declaration in described["types"].items():
            self._define(name, declaration)
        for program in described["programs"]:
            for version in program["versions"]:
                procedures = {p["name"]: self._procedure(p) for p in version["procedures"]}
                self.versions[version["name"]] = Version(version["name"], program["number"], version["number"], procedures)

    # ---- From the description ----

    def _define(self, name, described):
        """Defines a type; one with a body is that body."""
        if isinstance(described["type"], dict) and described["shape"] == "plain":
            self.types[name] = self._body(name, described["type"])
        else:
            self.types[name] = self._declaration(name, described)

    def _declaration(self, scope, described):
        kind, name = described["type"], described.get("name")
        if kind == "void":
            return VOID
        if isinstance(kind, dict):  # a body within the declaration: its name is no name of a schema
            inside = f"{scope}.{name or ''}"
            self.types[inside] = self._body(inside, kind)
            kind = inside
        size = described.get("size", UNBOUNDED if described["shape"] == "variable" else None)
        if isinstance(size, str):
            _fail(f"the constant {size} is not known")
        return Declaration(name, kind, described["shape"], size)

    def _body(self, scope, body):
        if "enum" in body:
            self.constants.update(body["enum"])
            return Enum(frozenset(body["enum"].values()))
        if "struct" in body:
            return Struct([self._declaration(scope, member) for member in body["struct"]])
        arms, default = {}, None
        for described in body["union"]["arms"]:
            arm = self._declaration(scope, described)
            for label in described.get("labels", ()):
                if isinstance(label, str):
                    _fail(f"the constant {label} is not known")
                arms[label] = arm
            default = arm if "default" in described else default
        return Union(self._declaration(scope, body["union"]["discriminant"]), arms, default)

    def _procedure(self, described):
        name = described["name"]
        arguments = [self._declaration(f"{name}.{at}", one) for at, one in enumerate(described["arguments"])]
        return Procedure(name, described["number"], self._declaration(f"{name}.result", described["result"]), arguments)

    def version(self, name):
        return self.versions[name] if name in self.versions else _fail(f"there is no version {name}")

    def pack_all(self, declarations, values):
        if len(declarations) != len(values):
            _fail(f"{len(declarations)} arguments are wanted, {len(values)} were given")
        out = bytearray()
        for declaration, value in zip(declarations, values):
            self._put(out, declaration, value, 0)
        return bytes(out)

    def pack(self, name, value):
        """The octets of a value of the type."""
        return self.pack_all([Declaration(None, name, "plain", None)], [value])

    def unpack(self, declaration, octets):
        """The value of the type, or declaration, that the octets are, all of them."""
        if isinstance(declaration, str):
            declaration = Declaration(None, declaration, "plain", None)
        value, at = self._get(memoryview(octets), 0, declaration, 0)
        return value if at == len(octets) else _fail(f"{len(octets) - at} octets are left over")

    # ---- Values to octets ----

    def _put(self, out, declaration, value, depth):
        if depth > DEPTH_MAX:
            _fail("the value is nested too deeply")
        kind, name, size = declaration.kind, declaration.type, declaration.size
        if kind == "plain":
            self._put_type(out, name, value, depth)
        elif kind == "optional":
            out += struct.pack(">I", value is not None)
            if value is not None:
                self._put_type(out, name, value, depth)
        elif kind != "void":
            self._put_many(out, declaration, value, depth)
        elif value is not None:
            _fail("a value is given where the schema has void")

    def _put_many(self, out, declaration, value, depth):
        fixed, size, octets = declaration.kind == "fixed", declaration.size, declaration.type in ("opaque", "string")
        if declaration.type == "string" and isinstance(value, str):
            value = value.encode()
        try:
            value = bytes(memoryview(value)) if octets else list(value)
        except TypeError as error:
            raise XdrError(f"{declaration.name}: {error}") from None
        if len(value) > size or (fixed and len(value) != size):
            _fail(f"{declaration.name}: {len(value)} elements, where the schema has {size}")
        if not fixed:
            out += struct.pack(">I", len(value))
        if octets:
            out += value + bytes(-len(value) % 4)
            return
        for element in value:
            self._put_type(out, declaration.type, element, depth + 1)

    def _put_type(self, out, name, value, depth):
        if name == "bool":
            out += struct.pack(">I", bool(value) if value in (0, 1) else _fail(f"{value!r} is no bool"))
            return
        if name in NUMBERS:
            try:
                out += struct.pack(NUMBERS[name], value)
            except (struct.error, OverflowError) as error:
                raise XdrError(f"{value!r} is no {name}: {error}") from None
            return
        kind = self.types.get(name)
        if isinstance(kind, Declaration):
            self._put(out, kind, value, depth + 1)
        elif isinstance(kind, Enum):
            good = isinstance(value, int) and value in kind.values
            out += struct.pack(">i", value if good else _fail(f"{value!r} is no {name}"))
        elif isinstance(kind, Struct):
            if not isinstance(value, Mapping):
                _fail(f"{value!r} is no {name}: it has no members")
            for member in kind.members:
                if member.name not in value:
                    _fail(f"{name} has no {member.name}")
                self._put(out, member, value[member.name], depth + 1)
        elif isinstance(kind, Union):
            if not isinstance(value, (tuple, list)) or len(value) != 2:
                _fail(f"{value!r} is no {name}: a union is (discriminant, value)")
            self._put(out, kind.discriminant, value[0], depth + 1)
            self._put(out, self._arm(kind, int(value[0])), value[1], depth + 1)
        else:
            _fail(f"the type {name} is not known")

    @staticmethod
    def _arm(union, discriminant):
        arm = union.arms.get(discriminant, union.default)
        return arm if arm is not None else _fail(f"the union has no arm for {discriminant}")

    # ---- Octets to values: each function gives the value, and where it ends ----

    @staticmethod
    def _number(octets, at, form):
        try:
            return struct.unpack_from(form, octets, at)[0], at + struct.calcsize(form)
        except struct.error:
            return _fail("the octets end too early")

    def _get(self, octets, at, declaration, depth):
        if depth > DEPTH_MAX:
            _fail("the value is nested too deeply")
        if declaration.kind == "plain":
            return self._get_type(octets, at, declaration.type, depth)
        if declaration.kind == "void":
            return None, at
        if declaration.kind == "optional":
            there, at = self._get_type(octets, at, "bool", depth)
            return self._get_type(octets, at, declaration.type, depth) if there else (None, at)
        return self._get_many(octets, at, declaration, depth)

    def _get_many(self, octets, at, declaration, depth):
        count = declaration.size
        if declaration.kind == "variable":
            count, at = self._number(octets, at, ">I")
            if count > declaration.size:
                _fail(f"{count} elements, where the schema has {declaration.size}")
        if declaration.type in ("opaque", "string"):
            end = at + count + -count % 4
            return (bytes(octets[at:at + count]), end) if end <= len(octets) else _fail("the octets end too early")
        if count > len(octets):  # elements of no octets are not counted out
            _fail("there are fewer octets than elements")
        values = []
        for _ in range(count):
            value, at = self._get_type(octets, at, declaration.type, depth + 1)
            values.append(value)
        return values, at

    def _get_type(self, octets, at, name, depth):
        if name in NUMBERS:
            return self._number(octets, at, NUMBERS[name])
        if name == "bool":
            value, at = self._number(octets, at, ">I")
            return (bool(value), at) if value < 2 else _fail(f"{value} is no bool")
        kind = self.types.get(name)
        if isinstance(kind, Declaration):
            return self._get(octets, at, kind, depth + 1)
        if isinstance(kind, Enum):
            value, at = self._number(octets, at, ">i")
            return (value, at) if value in kind.values else _fail(f"{value} is no {name}")
        if isinstance(kind, Struct):
            values = {}
            for member in kind.members:
                values[member.name], at = self._get(octets, at, member, depth + 1)
            return values, at
        if isinstance(kind, Union):
            discriminant, at = self._get(octets, at, kind.discriminant, depth + 1)
            value, at = self._get(octets, at, self._arm(kind, int(discriminant)), depth + 1)
            return (discriminant, value), at
        return _fail(f"the type {name} is not known")
