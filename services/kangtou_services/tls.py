"""TLS of the gateways: the operator's certificate, or one made for development in the data folder. docs/security.md

A file that was replaced is read again at the next connection, so that a renewed certificate needs no restart.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import structlog

from .settings import Settings

if TYPE_CHECKING:
    from cryptography.x509 import GeneralName

log = structlog.get_logger(__name__)

DAYS = 365  # of a certificate for development
RENEW_DAYS = 30  # it is made anew when so little is left


class BadCertificate(Exception):
    """The files cannot be used. The text says which, and why."""


@dataclass(frozen=True, slots=True)
class Files:
    """PEM files: the certificate with those between it and the root, its key, and the root (None: the system's)."""

    certificate: Path
    key: Path
    root: Path | None


def files_of(settings: Settings) -> Files | None:
    """The files of a server's settings; None without TLS."""
    if settings.tls_cert:
        return Files(
            Path(settings.tls_cert), Path(settings.tls_key), Path(settings.tls_ca) if settings.tls_ca else None
        )
    if settings.tls:
        folder = settings.data / "tls"
        return Files(folder / "gateway.pem", folder / "gateway.key", folder / "ca.pem")
    return None


def prepare(settings: Settings) -> Files | None:
    """Make what is to be made, check what is given. Raises BadCertificate."""
    files = files_of(settings)
    if files is None:
        return None
    if not settings.tls_cert and _runs_out(files.certificate):
        make(files, settings.host)
    read(files)
    return files


def read(files: Files) -> tuple[bytes, bytes]:
    """Key and certificate, if they are for each other. Raises BadCertificate."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    try:
        key, chain = files.key.read_bytes(), files.certificate.read_bytes()
    except OSError as error:
        raise BadCertificate(f"{error.filename}: {error.strerror}") from error
    if files.key.stat().st_mode & 0o077:
        raise BadCertificate(f"{files.key}: others may read this key; chmod 600 it")
    try:
        certificate = x509.load_pem_x509_certificates(chain)[0]
        private = load_pem_private_key(key, None)
    except (ValueError, TypeError, IndexError) as error:
        raise BadCertificate(f"{files.certificate} and {files.key} are no certificate and key in PEM") from error
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if private.public_key().public_bytes(*form) != certificate.public_key().public_bytes(*form):
        raise BadCertificate(f"{files.key} is not the key of {files.certificate}")
    if certificate.not_valid_after_utc < datetime.datetime.now(datetime.UTC):
        raise BadCertificate(f"{files.certificate} was good until {certificate.not_valid_after_utc:%Y-%m-%d}")
    return key, chain


def credentials(files: Files) -> grpc.ServerCredentials:
    """For the gateways' port; files that cannot be used later are not taken. Raises BadCertificate."""
    seen = _times(files)

    def configuration() -> grpc.ServerCertificateConfiguration:
        return grpc.ssl_server_certificate_configuration([read(files)])

    def renewed() -> grpc.ServerCertificateConfiguration | None:
        nonlocal seen
        now = _times(files)
        if now == seen:
            return None
        seen = now
        try:
            return configuration()
        except BadCertificate as error:
            log.error("certificate_not_read", why=str(error))
            return None

    return grpc.dynamic_ssl_server_credentials(configuration(), renewed)  # type: ignore[arg-type] # None: as before


def name_of(files: Files) -> str:
    """A name that the certificate is for: what clients on this machine, who come by its address, expect to see."""
    from cryptography import x509

    certificate = x509.load_pem_x509_certificates(files.certificate.read_bytes())[0]
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ""
    found: list[str] = names.get_values_for_type(x509.DNSName)
    return next((name for name in found if "*" not in name), found[0].replace("*", "gateway") if found else "")


def _times(files: Files) -> tuple[int, int]:
    try:
        return files.certificate.stat().st_mtime_ns, files.key.stat().st_mtime_ns
    except OSError:
        return 0, 0


def _runs_out(certificate: Path) -> bool:
    from cryptography import x509

    try:
        until = x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc
    except (OSError, ValueError):
        return True
    return until - datetime.datetime.now(datetime.UTC) < datetime.timedelta(days=RENEW_DAYS)


def make(files: Files, host: str) -> None:
    """A root of its own and a certificate for this machine. The root's key is kept nowhere. Raises BadCertificate."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    now = datetime.datetime.now(datetime.UTC)
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())

    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    def builder(subject: str, public: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(named(subject))
            .issuer_name(named("Kangtou development root"))
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(minutes=5))
            .not_valid_after(now + datetime.timedelta(days=DAYS))
        )

    root = (
        builder("Kangtou development root", root_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(root_key, hashes.SHA256())
    )
    leaf = (
        builder("kangtou", key.public_key())
        .add_extension(x509.SubjectAlternativeName(_names(host)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(root_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    assert files.root is not None
    try:
        files.key.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path, data in ((files.key, private), (files.certificate, leaf.public_bytes(pem))):
            _write(path, data, 0o600)
        _write(files.root, root.public_bytes(pem), 0o644)
    except OSError as error:
        raise BadCertificate(f"{error.filename}: {error.strerror}") from error


def _names(host: str) -> list[GeneralName]:
    from cryptography import x509

    found: list[GeneralName] = [x509.DNSName("localhost")]
    for text in dict.fromkeys(("127.0.0.1", "::1", host)):
        try:
            found.append(x509.IPAddress(ipaddress.ip_address(text)))
        except ValueError:
            found.append(x509.DNSName(text))
    return found


def _write(path: Path, data: bytes, mode: int) -> None:
    """In one step, with these rights from the beginning."""
    part = path.with_suffix(".new")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
        file.write(data)
    part.replace(path)
