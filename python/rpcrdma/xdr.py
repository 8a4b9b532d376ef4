# SPDX-License-Identifier: BSD-3-Clause
"""Schemas in the XDR language (RFC 4506, RFC 5531 section 12), and values of theirs as octets.

Values: integers, booleans, floats; bytes for opaque data and strings; dictionaries for structures; (discriminant, value) for
unions, with None where the arm is void; lists for arrays; None for what is optional and absent; enums are integers. A linked
list (a structure whose last member is an optional one of its own type) is nested dictionaries.
"""
import re
import struct
from collections import namedtuple

Declaration = namedtuple("Declaration", "name type kind size")  # kind: plain, fixed, counted, optional, void
Procedure = namedtuple("Procedure", "name number result arguments")
Version = namedtuple("Version", "name program number procedures")
Struct = namedtuple("Struct", "members")
Union = namedtuple("Union", "discriminant arms default")
Enum = namedtuple("Enum", "values")

VOID = Declaration(None, "void", "void", None)
NUMBERS = {"int": ">i", "unsigned int": ">I", "hyper": ">q", "unsigned hyper": ">Q", "float": ">f", "double": ">d"}
UNBOUNDED = 0xffffffff
DEPTH_MAX = 200  # below what the interpreter has room for
TOKEN = re.compile(r"[A-Za-z_]\w*|-?0[xX][0-9a-fA-F]+|-?\d+|[{}()\[\]<>;:,=*]|\S")
WORDS = {"long": "int", "short": "int", "char": "int", "u_int": "unsigned int", "u_long": "unsigned int",
         "u_short": "unsigned int", "u_char": "unsigned int", "bool_t": "bool"}


class XdrError(ValueError):
    """A schema that cannot be read, a value that does not fit it, or octets that do not decode."""


def _fail(text):
    raise XdrError(text)


class _Parser:
    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
        text = re.sub(r"^\s*[%#].*$", "", text, flags=re.MULTILINE)
        self.tokens, self.at = TOKEN.findall(text), 0
        self.constants, self.types, self.versions = {"TRUE": 1, "FALSE": 0}, {}, {}

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, wanted=None):
        token = self.peek()
        if token is None or wanted not in (None, token):
            _fail(f"{wanted or 'more'} is missing in front of {token or 'the end'}")
        self.at += 1
        return token

    def maybe(self, wanted):
        if self.peek() != wanted:
            return False
        self.at += 1
        return True

    def value(self):
        token = self.take()
        if re.match(r"-?\d", token):
            octal = re.fullmatch(r"(-?)0([0-7]+)", token)
            return int(octal[1] + octal[2], 8) if octal else int(token, 0)
        if token not in self.constants:
            _fail(f"the constant {token} is not known")
        return self.constants[token]

    def type(self, name):
        """The name of a type, which is declared here where it has a body."""
        token = self.take()
        if token == "unsigned":
            token = "unsigned " + (self.take() if self.peek() in ("int", "hyper", "long", "short", "char") else "int")
            return "unsigned hyper" if token.endswith("hyper") else "unsigned int"
        if token in ("enum", "struct", "union"):
            if self.peek() != "{" and not (token == "union" and self.peek() == "switch"):
                return self.take()
            self.types[name] = getattr(self, token)(name)
            return name
        return WORDS.get(token, token)

    def declaration(self, scope):
        if self.maybe("void"):
            return VOID
        kind = self.type(f"{scope}.{self.at}")
        if self.maybe("*"):
            return Declaration(self.take(), kind, "optional", None)
        name = self.take()
        if self.maybe("["):
            size = self.value()
            self.take("]")
            return Declaration(name, kind, "fixed", size)
        if self.maybe("<"):
            size = UNBOUNDED if self.peek() == ">" else self.value()
            self.take(">")
            return Declaration(name, kind, "counted", size)
        return Declaration(name, kind, "plain", None)

    def enum(self, _):
        values, last = [], -1
        self.take("{")
        while True:
            name = self.take()
            last = self.value() if self.maybe("=") else last + 1
            self.constants[name] = last
            values.append(last)
            if not self.maybe(","):
                break
            if self.peek() == "}":
                break
        self.take("}")
        return Enum(frozenset(values))

    def struct(self, scope):
        members = []
        self.take("{")
        while not self.maybe("}"):
            members.append(self.declaration(scope))
            self.take(";")
        return Struct(members)

    def union(self, scope):
        arms, default = {}, None
        self.take("switch")
        self.take("(")
        discriminant = self.declaration(scope)
        self.take(")")
        self.take("{")
        while not self.maybe("}"):
            values = []
            while self.maybe("case"):
                values.append(self.value())
                self.take(":")
            if not values:
                self.take("default")
                self.take(":")
            arm = self.declaration(scope)
            self.take(";")
            arms.update(dict.fromkeys(values, arm))
            default = default if values else arm
        return Union(discriminant, arms, default)

    def plain(self):
        """The type of a result or an argument of a procedure."""
        if self.maybe("void"):
            return VOID
        kind = self.type("procedure")
        optional = self.maybe("*")
        if kind in ("string", "opaque"):
            if self.maybe("<"):
                if self.peek() != ">":
                    self.value()
                self.take(">")
            return Declaration(None, kind, "counted", UNBOUNDED)
        return Declaration(None, kind, "optional" if optional else "plain", None)

    def program(self):
        found = []
        self.take()
        self.take("{")
        while not self.maybe("}"):
            self.take("version")
            name, procedures = self.take(), {}
            self.take("{")
            while not self.maybe("}"):
                result, called, arguments = self.plain(), self.take(), []
                self.take("(")
                while not self.maybe(")"):
                    arguments.append(self.plain())
                    self.maybe(",")
                self.take("=")
                procedures[called] = Procedure(called, self.value(), result, [a for a in arguments if a is not VOID])
                self.take(";")
            self.take("=")
            found.append((name, self.value(), procedures))
            self.take(";")
        self.take("=")
        number = self.value()
        for name, version, procedures in found:
            self.versions[name] = Version(name, number, version, procedures)

    def read(self):
        while self.peek() is not None:
            word = self.take()
            if word == "const":
                name = self.take()
                self.take("=")
                self.constants[name] = self.value()
            elif word in ("enum", "struct", "union"):
                name = self.take()
                self.types[name] = getattr(self, word)(name)
            elif word == "typedef":
                declared = self.declaration("typedef")
                self.types[declared.name] = declared
            elif word == "program":
                self.program()
            else:
                _fail(f"{word} begins no definition")
            self.take(";")


class Schema:
    """What a file in the XDR language declares."""

    def __init__(self, text):
        parser = _Parser(text)
        parser.read()
        self.constants, self.types, self.versions = parser.constants, parser.types, parser.versions

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
        fixed, size = declaration.kind == "fixed", declaration.size
        if declaration.type == "string" and isinstance(value, str):
            value = value.encode()
        if len(value) > size or (fixed and len(value) != size):
            _fail(f"{declaration.name}: {len(value)} elements, where the schema has {size}")
        if not fixed:
            out += struct.pack(">I", len(value))
        if declaration.type in ("opaque", "string"):
            out += bytes(value) + bytes(-len(value) % 4)
            return
        for element in value:
            self._put_type(out, declaration.type, element, depth + 1)

    def _put_type(self, out, name, value, depth):
        if name in NUMBERS or name == "bool":
            try:
                out += struct.pack(NUMBERS.get(name, ">I"), bool(value) if name == "bool" else value)
            except struct.error as error:
                raise XdrError(f"{value!r} is no {name}: {error}") from None
            return
        kind = self.types.get(name)
        if isinstance(kind, Declaration):
            self._put(out, kind, value, depth + 1)
        elif isinstance(kind, Enum):
            out += struct.pack(">i", value if value in kind.values else _fail(f"{value!r} is no {name}"))
        elif isinstance(kind, Struct):
            for member in kind.members:
                if member.name not in value:
                    _fail(f"{name} has no {member.name}")
                self._put(out, member, value[member.name], depth + 1)
        elif isinstance(kind, Union):
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
        if declaration.kind == "counted":
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
