# SPDX-License-Identifier: BSD-3-Clause
"""TLS 1.3 (RFC 8446) as no library sends it: a client whose handshake Python's ssl makes, and whose records are made here after it, one by
one. The cipher is that of OpenSSL's libcrypto."""
import contextlib
import ctypes
import hashlib
import hmac
import os
import socket
import ssl
import struct

DATA, ALERT, HANDSHAKE = 23, 21, 22
KEY_UPDATE = bytes([24, 0, 0, 1])  # and whether the peer is to update its keys, too
CLOSE_NOTIFY, INTERNAL_ERROR = bytes([1, 0]), bytes([2, 80])

crypto = ctypes.CDLL("libcrypto.so.3")
for name in ("EVP_CIPHER_CTX_new", "EVP_aes_256_gcm"):
    getattr(crypto, name).restype = ctypes.c_void_p
crypto.EVP_CIPHER_CTX_free.argtypes = [ctypes.c_void_p]
crypto.EVP_EncryptInit_ex.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
crypto.EVP_EncryptUpdate.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int), ctypes.c_char_p, ctypes.c_int]
crypto.EVP_CIPHER_CTX_ctrl.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_char_p]
GET_TAG = 0x10


def sealed(key, nonce, header, octets):
    """AES-256-GCM (RFC 5116): the cipher text, and the tag behind it."""
    context, length, out = crypto.EVP_CIPHER_CTX_new(), ctypes.c_int(), ctypes.create_string_buffer(len(octets) + 16)
    crypto.EVP_EncryptInit_ex(context, crypto.EVP_aes_256_gcm(), None, key, nonce)
    crypto.EVP_EncryptUpdate(context, None, length, header, len(header))
    crypto.EVP_EncryptUpdate(context, out, length, octets, len(octets))
    tag = ctypes.create_string_buffer(16)
    crypto.EVP_EncryptUpdate(context, None, length, None, 0)
    crypto.EVP_EncryptFinal_ex(ctypes.c_void_p(context), ctypes.create_string_buffer(16), ctypes.byref(length))
    crypto.EVP_CIPHER_CTX_ctrl(context, GET_TAG, 16, tag)
    crypto.EVP_CIPHER_CTX_free(context)
    return out.raw[:len(octets)] + tag.raw


def expanded(secret, label, size):
    """HKDF-Expand-Label (RFC 8446, 7.1), without a context."""
    name = b"tls13 " + label
    return hmac.new(secret, struct.pack(">HB", size, len(name)) + name + b"\0\1", hashlib.sha384).digest()[:size]


class Records:
    """A client inside of TLS. send() makes one record; read() decrypts by ssl. begin(stream): what comes before TLS."""

    def __init__(self, port, context, folder, name="localhost", begin=None):
        keys = f"{folder}/keys"
        with contextlib.suppress(FileNotFoundError):
            os.remove(keys)
        context.keylog_filename = keys
        self.stream = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if begin:
            begin(self.stream)
        self.inward, self.outward = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.session = context.wrap_bio(self.inward, self.outward, server_hostname=name)
        self.turn(self.session.do_handshake)
        self.stream.sendall(self.outward.read())
        with open(keys) as file:
            self.secret = next(bytes.fromhex(line.split()[2]) for line in file if line.startswith("CLIENT_TRAFFIC_SECRET_0"))
        self.number = 0

    def turn(self, function, *arguments):
        """Does something with the session, for which it may have to read."""
        while True:
            try:
                return function(*arguments)
            except ssl.SSLWantReadError:
                self.stream.sendall(self.outward.read())
                if octets := self.stream.recv(65536):
                    self.inward.write(octets)
                else:
                    self.inward.write_eof()

    def send(self, octets, kind=DATA, padding=0, spoilt=False):
        """RFC 8446, 5.2 and 5.3."""
        inner = octets + bytes([kind]) + b"\0" * padding
        header = struct.pack(">BHH", DATA, 0x303, len(inner) + 16)
        start = int.from_bytes(expanded(self.secret, b"iv", 12), "big")
        record = sealed(expanded(self.secret, b"key", 32), (start ^ self.number).to_bytes(12, "big"), header, inner)
        self.number += 1
        with contextlib.suppress(ConnectionError):
            self.stream.sendall(header + (record[:-1] + bytes([record[-1] ^ 1]) if spoilt else record))

    def update(self, asks=False):
        """RFC 8446, 4.6.3 and 7.2."""
        self.send(KEY_UPDATE + bytes([asks]), HANDSHAKE)
        self.secret, self.number = expanded(self.secret, b"traffic upd", 48), 0

    def read(self, count):
        """So many octets, or fewer if the stream ends before, in whatever way."""
        octets = b""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while len(octets) < count and (part := self.turn(self.session.read, count - len(octets))):
                octets += part
        return octets

    def close(self):
        self.stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
