# SPDX-License-Identifier: BSD-3-Clause
"""Certificates for tests of TLS, made by the command openssl: an authority, those that it signed, and what is wrong with some."""
import os
import subprocess

CONFIG = """[ca]
default_ca = ours
[ours]
dir = .
database = index.txt
serial = serial
crlnumber = crlnumber
new_certs_dir = new
certificate = ca.pem
private_key = ca.key
default_md = sha256
default_days = 30
default_crl_days = 30
policy = any
unique_subject = no
copy_extensions = copy
[any]
commonName = supplied
"""


class Pki:
    """A folder with ca.pem, and NAME.pem and NAME.key for each certificate."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(f"{folder}/new")
        for name, text in (("ca.conf", CONFIG), ("index.txt", ""), ("serial", "01\n"), ("crlnumber", "01\n")):
            with open(self.path(name), "w") as file:
                file.write(text)
        self.self_signed("ca", "Test CA", "basicConstraints=critical,CA:TRUE", "keyUsage=keyCertSign,cRLSign")

    def path(self, name):
        return f"{self.folder}/{name}"

    def openssl(self, *arguments):
        result = subprocess.run(["openssl", *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(f"openssl {' '.join(arguments)}: {result.stderr}")

    def request(self, name, common_name, names, *options):
        added = [word for extension in names for word in ("-addext", extension)]
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key",
                     "-subj", f"/CN={common_name}", *added, *options)

    def self_signed(self, name, common_name, *extensions):
        self.request(name, common_name, extensions, "-x509", "-days", "30", "-out", f"{name}.pem")

    def signed(self, name, *names, dates=(), purposes=None):
        """A certificate of the authority, for the names of the form DNS:NAME or IP:ADDRESS."""
        extensions = [f"subjectAltName={','.join(names)}"] + ([f"extendedKeyUsage={purposes}"] if purposes else [])
        self.request(name, name, extensions, "-out", f"{name}.csr")
        self.openssl("ca", "-batch", "-notext", "-config", "ca.conf", "-in", f"{name}.csr", "-out", f"{name}.pem", *dates)

    def below(self, name, *names):
        """A certificate of an authority NAME-ca that the authority has signed, which stands behind it in NAME.pem."""
        above = f"{name}-ca"
        self.request(above, above, ["basicConstraints=critical,CA:TRUE", "keyUsage=keyCertSign,cRLSign"], "-out", f"{above}.csr")
        self.openssl("ca", "-batch", "-notext", "-config", "ca.conf", "-in", f"{above}.csr", "-out", f"{above}.pem")
        self.request(name, name, [f"subjectAltName={','.join(names)}"], "-out", f"{name}.csr")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{above}.pem", "-CAkey", f"{above}.key", "-CAcreateserial",
                     "-copy_extensions", "copy", "-days", "30", "-out", f"{name}.pem")
        with open(self.path(f"{name}.pem"), "a") as chain, open(self.path(f"{above}.pem")) as file:
            chain.write(file.read())

    def revoke(self, name):
        """Makes revoked.pem: the certificate of the authority, with a list that revokes NAME.pem."""
        self.openssl("ca", "-config", "ca.conf", "-revoke", f"{name}.pem")
        self.openssl("ca", "-config", "ca.conf", "-gencrl", "-out", "list.pem")
        with open(self.path("revoked.pem"), "w") as both:
            for part in ("ca.pem", "list.pem"):
                with open(self.path(part)) as file:
                    both.write(file.read())


def server_options(pki, name="server", ca="ca.pem"):
    """The options of a server with that certificate, which asks its clients for theirs."""
    return ["--tls-cert", pki.path(f"{name}.pem"), "--tls-key", pki.path(f"{name}.key"), "--tls-ca", pki.path(ca)]
