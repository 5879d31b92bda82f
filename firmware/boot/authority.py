# Whether the manifest is the key holder's, asked once at the start. Its module is dropped afterwards: a running board
# holds its files against the manifest's digest.
import ubinascii
import uhashlib
from key import MODULUS, NAME
from micropython import const
from verify import MANIFEST, SIGNATURE, Authenticity, Refused, Signature

_VERSION = "/data/version"
_EXPONENT = const(65537)
_CHUNK = const(512)
# SHA-256's DigestInfo, RFC 8017, 9.2, note 1.
_DIGEST_INFO = b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"
_VERSION_LINE = b"version "
_HEAD = const(6)


# The signature over the image: (ok, why). In the same pass each file is held against the manifest: boot.doubt says why
# the image isn't authentic, "" if it is.
def check(boot):
    boot.doubt = "not checked"
    boot.key = key_label()
    manifest = None
    try:
        boot.trusted = trust()
        manifest = Authenticity(boot.trusted)
        manifest.open()
    except Refused as e:
        boot.doubt = e.args[0]
    signature = Signature(boot, manifest)
    result = None
    while result is None:
        boot.port.feed()
        result = signature.step()
    boot.image_crc = signature.crc
    if manifest:
        conclude(boot, manifest, result[0])
    return result


# Whatever the CRC says: each of the two is judged by itself.
def conclude(boot, manifest, ok):
    try:
        found = boot.image_version = version()
        manifest.finish()
        boot.doubt = manifest.why
        if ok and not boot.doubt:
            remember(found)
    except Refused as e:
        boot.doubt = e.args[0]


# What the identity says of the key.
def key_label():
    return ubinascii.hexlify(uhashlib.sha256(MODULUS).digest()[:8]).decode() + " " + NAME


# SHA-256 of manifest and signature, once the signature fits; raises Refused.
def trust():
    sha, both = uhashlib.sha256(), uhashlib.sha256()
    try:
        with open(MANIFEST, "rb") as f:
            data = f.read(_CHUNK)
            while data:
                sha.update(data)
                both.update(data)
                data = f.read(_CHUNK)
        with open(SIGNATURE, "rb") as f:
            signature = f.read(len(MODULUS) + 1)
    except OSError:
        raise Refused("no signed manifest in " + MANIFEST)
    try:
        ok = fits(sha.digest(), signature, MODULUS)
    except (TypeError, NotImplementedError, OverflowError) as e:
        raise Refused("this MicroPython lacks pow with three arguments, and checks no signature: %r" % e)
    if not ok:
        raise Refused("%s is no signature of %s by key %s" % (SIGNATURE, MANIFEST, key_label()))
    both.update(signature)
    return both.digest()


# RFC 8017, 8.2.2: the block that the key holder must have signed is made anew and compared whole; nothing in the other
# is parsed, so nothing can hide in it.
def fits(digest, signature, modulus):
    size, n = len(modulus), int.from_bytes(modulus, "big")
    s = int.from_bytes(signature, "big")
    if len(signature) != size or s >= n:
        return False
    padding = b"\xff" * (size - 3 - len(_DIGEST_INFO) - len(digest))
    return pow(s, _EXPONENT, n).to_bytes(size, "big") == b"\0\1" + padding + b"\0" + _DIGEST_INFO + digest


# The version of the manifest. Raises Refused for one that is older than the newest that ran here: rollback.
def version():
    with open(MANIFEST, "rb") as f:
        for _ in range(_HEAD):
            line = f.readline()
            if line.startswith(_VERSION_LINE):
                found = int(line[len(_VERSION_LINE) :])
    newest = _newest()
    if found < newest:
        raise Refused("version %d of the image is older than %d, which ran here" % (found, newest))
    return found


# Only once the whole image was found to be what the manifest says.
def remember(found):
    if found > _newest():
        try:
            with open(_VERSION, "w") as f:
                f.write("%d\n" % found)
        except OSError as e:
            raise Refused("%s can't be written: %r" % (_VERSION, e))


# 0 on a new board, and where the file was torn.
def _newest():
    try:
        with open(_VERSION) as f:
            return int(f.read(20))
    except (OSError, ValueError):
        return 0
